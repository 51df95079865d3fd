import { anyProgram } from "../anyProgram.ts";
import type { Provider } from "../port.ts";
import screen from "./screen.json";

export const repl: Provider = {
  ...anyProgram,
  name: "repl",
  title: "an interpreter",
  screen,
  // It runs each line it is given, unless it is known to take a paste as one input.
  terminal: { bracketedPaste: false, interpreter: true, mayAct: true },
};
