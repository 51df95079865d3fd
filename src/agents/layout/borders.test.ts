import { expect, test } from "bun:test";
import { labelOf } from "./borders.ts";

test("a border is one line of plain text, whatever a name holds", () => {
  const label = labelOf({ name: "ana\u001b[2J\n#[fg=red]#(touch x)", state: "idle", draft: false }, 2);
  expect(label).toBe("ana␛[2J ⏎ ##[fg=red]##(touch x) · idle · 2 mail");
});
