import { readFileSync } from "node:fs";
import { join } from "node:path";
import parrot from "../../fixtures/objects/parrot.ts";
import { objectContract } from "../testing/objectContract.ts";
import { child } from "./channels/child.ts";
import { inline } from "./channels/inline.ts";
import { ModuleThreads } from "./channels/worker.ts";

const fixtures = join(import.meta.dir, "../../fixtures/objects");
const parrotFile = join(fixtures, "parrot.ts");

objectContract("in the switch's thread", inline(parrot), { contained: false });
objectContract("module", new ModuleThreads(200).opener({ path: parrotFile, text: readFileSync(parrotFile, "utf8") }), {
  contained: true,
});
objectContract(
  "child process",
  child({
    argv: [process.execPath, join(fixtures, "parrot-child.ts")],
    cwd: fixtures,
    env: { PATH: process.env["PATH"] ?? "" },
  }),
  { contained: true },
);
