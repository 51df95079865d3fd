/** What a user does on the page. A failure is shown with its remedy, and never only in the console. */
import { mayHaveArrived, TielineError } from "../src/client/browser.ts";
import type { Notice } from "./state.ts";
import { notices } from "./state.ts";

let lastNotice = 0;

export function tell(
  text: string,
  { bad = false, remedy = null, undo = null }: Partial<Pick<Notice, "bad" | "remedy" | "undo">> = {},
): void {
  const notice: Notice = { id: ++lastNotice, text, remedy, bad, undo };
  notices.value = [...notices.value.slice(-3), notice];
  expire(notice.id, bad || undo !== null ? 12_000 : 5_000);
}

/** A notice stays while it is pointed at or holds the focus. */
function expire(id: number, ms: number): void {
  setTimeout(() => {
    if (document.querySelector(".notices:is(:hover, :focus-within)") !== null) expire(id, 2_000);
    else dropNotice(id);
  }, ms);
}

export function dropNotice(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id);
}

/** Does it, and says how it went; true: it worked. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work();
    if (done !== undefined) tell(done);
    return true;
  } catch (thrown) {
    const error = isUnknown(thrown) ? lostOnTheWay : failureOf(thrown);
    tell(error.message, { bad: true, remedy: error.remedy });
    return false;
  }
}

const lostOnTheWay = {
  message: "The connection was lost: it is not known whether this was done",
  remedy: "look again once the daemon is back",
};

/** The daemon may have done it and could not say so. */
export const isUnknown = (thrown: unknown): boolean =>
  thrown instanceof TielineError && thrown.code === "DAEMON_UNAVAILABLE" && mayHaveArrived(thrown);

export function failureOf(thrown: unknown): { readonly message: string; readonly remedy: string | null } {
  if (thrown instanceof TielineError) return { message: thrown.message, remedy: thrown.remedy };
  return { message: thrown instanceof Error ? thrown.message : String(thrown), remedy: null };
}
