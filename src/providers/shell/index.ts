import { anyProgram } from "../anyProgram.ts";
import type { Provider } from "../port.ts";
import screen from "./screen.json";

export const shell: Provider = {
  ...anyProgram,
  name: "shell",
  title: "a shell",
  screen,
  terminal: { bracketedPaste: null, shell: true, mayAct: true },
};
