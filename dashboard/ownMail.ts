/** The user's own mail: read, and unread again. */
import { attempt, tell } from "./actions.ts";
import { inTeam } from "./api.ts";
import { refreshOwn } from "./refresh.ts";
import { dismissed, keptUnread, openMail } from "./state.ts";

const mostKept = 200;

export async function markRead(tag: string): Promise<void> {
  keptUnread.value = keptUnread.value.filter((one) => one !== tag);
  const worked = await attempt(() => collect({ tag }));
  if (worked) tell("Marked as read", { undo: () => void markUnread(tag) });
}

export const markAllRead = async (): Promise<void> => {
  const before = openMail.peek().map(({ tag }) => tag);
  keptUnread.value = [];
  const worked = await attempt(() => collect({ limit: 200 }));
  if (worked) tell("All mail marked as read", { undo: () => void markUnread(...before) });
};

export async function markUnread(...tags: readonly string[]): Promise<void> {
  dismissed.value = dismissed.value.filter((one) => !tags.includes(one));
  keptUnread.value = [...keptUnread.value.filter((one) => !tags.includes(one)), ...tags].slice(-mostKept);
  await attempt(refreshOwn);
}

/** Mail is seen when the user says so. What they have read before stays as it is. */
async function collect(which: { tag: string } | { limit: number }): Promise<void> {
  const mail = await inTeam(null).call("collect", which);
  await inTeam(null).call("collected", { deliveries: mail.flatMap(({ delivery }) => delivery ?? []) });
  await refreshOwn();
}
