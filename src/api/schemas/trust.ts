import { z } from "zod";
import { time } from "./fields.ts";

export const TrustView = z.object({
  root: z.string().describe("the directory of the project, without links in its path"),
  file: z.string(),
  team: z.string(),
  state: z
    .enum(["trusted", "new", "changed", "exposed"])
    .describe(
      "new: never trusted; changed: it can start other things than when it was trusted; exposed: other users " +
        "could have written it",
    ),
  digest: z.string().describe("a digest of what the files can start"),
  files: z.array(z.string()).describe("what was read: tieline.yaml, profiles, modules"),
  fileDigest: z.string().describe("SHA-256 of tieline.yaml"),
  trustedAt: time.nullable(),
  problem: z.string().nullable().describe("how other users could have written a file, if they could"),
  remedy: z.string().nullable(),
  starts: z.array(z.string()).describe("what it can start and allow, a line for each setting"),
  changes: z
    .array(z.object({ sign: z.enum(["-", "+"]), text: z.string() }))
    .describe("how that differs from what was trusted"),
  notCovered: z.string(),
});
export type TrustView = z.infer<typeof TrustView>;

export const projectDirectory = z.string().optional().describe("a directory of the project; default: the caller's");
