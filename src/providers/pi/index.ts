import type { Provider } from "../port.ts";
import { connect } from "./connection.ts";
import { piExtensionKind } from "./sessions.ts";
import { launching } from "./launch.ts";
import screen from "./screen.json";

export const pi: Provider = {
  ...launching,
  name: "pi",
  title: "pi",
  program: "pi",
  packages: ["pi-coding-agent"],
  screen,
  terminal: { expandsTabs: true },
  connect,
  endpoints: [piExtensionKind.schema],
};
