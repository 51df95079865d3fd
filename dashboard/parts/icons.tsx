import type { VNode } from "preact";

/** Lines on a grid of 24, drawn in the colour of the text beside them. */
const paths = {
  team: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm8 0a3 3 0 1 0 0-6M3 19c0-3 2.2-5 5-5s5 2 5 5m3-5c2.8 0 5 2 5 5",
  messages: "M4 5h16v11H9l-5 4V5Zm4 4h8M8 12h5",
  waiting: "M12 4a5 5 0 0 0-5 5v4l-2 3h14l-2-3V9a5 5 0 0 0-5-5Zm-2 14a2 2 0 0 0 4 0",
  queue: "M4 6h16M4 12h16M4 18h9",
  graph:
    "M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm12 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 " +
    "7l8 4m0 2-7 4",
  numbers: "M5 20V11m7 9V4m7 16v-6",
  terminal: "M4 5h16v14H4V5Zm3 4 3 3-3 3m5 0h5",
  events: "M5 6h.01M5 12h.01M5 18h.01M9 6h10M9 12h10M9 18h7",
  compose: "M4 20h4L19 9l-4-4L4 16v4Z",
  search: "M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12Zm5-1 4 4",
  close: "M6 6l12 12M18 6 6 18",
  reply: "M10 7 5 12l5 5m-5-5h9a5 5 0 0 1 5 5",
  sun:
    "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M5.6 18.4 7 " +
    "17M17 7l1.4-1.4",
  moon: "M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5Z",
  system: "M4 5h16v10H4V5Zm5 14h6m-3-4v4",
  plus: "M12 5v14M5 12h14",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  help: "M9 9a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7v.5m0 3h.01",
  back: "M15 6l-6 6 6 6",
} as const;

export type IconName = keyof typeof paths;

/** Tieline's own: two ends and the line between them. */
export const Mark = (): VNode => (
  <svg class="mark" viewBox="0 0 32 20" aria-hidden="true">
    <path d="M6 10H26" />
    <circle cx="6" cy="10" r="5" />
    <circle cx="26" cy="10" r="5" class="second" />
  </svg>
);

export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
