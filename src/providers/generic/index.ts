import { anyProgram } from "../anyProgram.ts";
import type { Provider } from "../port.ts";
import screen from "./screen.json";

export const generic: Provider = {
  ...anyProgram,
  name: "generic",
  title: "a program of your own",
  screen,
  terminal: { bracketedPaste: null, quietMs: 300, mayAct: true },
};
