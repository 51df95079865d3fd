/** The rows of docs/failure-modes.md that the simulation produces, each with the events that show it. */
export const simulatedModes: Readonly<Record<number, readonly string[]>> = {
  1: ["Enter was swallowed"],
  4: ["fault: exit-to-shell", "held: offline"],
  5: ["copy mode", "held: copy-mode"],
  6: ["something happened between paste and Enter", "held: permission", "held: dialog"],
  8: ["user typed a draft", "held: draft", "held: typing"],
  12: ["watch event lost", "watch event late"],
  13: ["mail came during an attempt"],
  14: ["watch event doubled", "sender sends again"],
  15: ["process killed during an attempt", "commit killed-before", "commit killed-after"],
  16: ["held: busy"],
  17: ["fault: model-fails", "hook died after it wrote"],
  20: ["fault: restart-tmux", "fault: respawn"],
  22: ["mail of two senders waited for one agent", "second daemon refused"],
  35: ["fault: silent-client", "fault: detach-clients"],
  36: ["agent killed", "held: offline"],
  38: ["hook brought mail", "hook died before it wrote"],
};
