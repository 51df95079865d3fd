/** The user's own mail: read, and unread again. */
import { attempt, tell } from "./actions.ts";
import { inTeam } from "./api.ts";
import { refreshOwn } from "./refresh.ts";
import { dismissed, keptUnread } from "./state.ts";

const mostKept = 200;

export async function markRead(tag: string): Promise<void> {
  keptUnread.value = keptUnread.value.filter((one) => one !== tag);
  const worked = await attempt(() => collect({ tag }));
  if (worked) tell("Marked as read", { undo: () => void markUnread(tag) });
}

export const markAllRead = async (): Promise<void> => {
  keptUnread.value = [];
  await attempt(() => collect({ limit: 200 }), "Marked as read");
};

export async function markUnread(tag: string): Promise<void> {
  dismissed.value = dismissed.value.filter((one) => one !== tag);
  keptUnread.value = [...keptUnread.value.filter((one) => one !== tag).slice(1 - mostKept), tag];
  await attempt(refreshOwn);
}

/** Mail is seen when the user says so. What they have read before stays as it is. */
async function collect(which: { tag: string } | { limit: number }): Promise<void> {
  const mail = await inTeam(null).call("collect", which);
  await inTeam(null).call("collected", { deliveries: mail.flatMap(({ delivery }) => delivery ?? []) });
  await refreshOwn();
}
