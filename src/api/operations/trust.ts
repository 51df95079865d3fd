import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import type { Teams } from "../../agents/teams.ts";
import { changesIn, type Inspection, type Trust } from "../../agents/trust/trust.ts";
import { linesOf, notCovered } from "../../agents/trust/powerLines.ts";
import { projectFileName } from "../../config/project.ts";
import { findProject } from "../../config/projects.ts";
import { TielineError } from "../../model/errors.ts";
import { userWords } from "../../os/accounts.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Caller } from "../schema.ts";
import { projectDirectory, TrustView } from "../schemas/trust.ts";

export interface TrustOperationParts {
  readonly callers: Callers;
  readonly trust: Trust;
  /** The user has trusted the project of a team, so what waited for that continues. */
  readonly trustChanged: (root: string) => void;
  readonly teams: Teams;
}

export const trustOperations = [
  operation({
    name: "trustShow",
    summary: "Show what the files of a project can start, and whether you trust that.",
    access: "user",
    input: z.object({ directory: projectDirectory }),
    output: TrustView,
    async run(parts: TrustOperationParts, { directory }, { caller }) {
      const { callers, trust } = parts;
      await callers.user(caller);
      return view(parts, trust.inspect(rootOf(directory, caller)));
    },
  }),

  /** Only the user, and only where no page and no token of an agent could speak for them. */
  operation({
    name: "trust",
    summary: "Trust what the files of a project can start; on the command line only.",
    access: "user",
    input: z.object({
      directory: projectDirectory,
      digest: z.string().describe("the `digest` of what the user was shown"),
    }),
    output: TrustView,
    async run(parts: TrustOperationParts, { directory, digest }, { caller, face }) {
      const { callers, trust } = parts;
      await callers.user(caller);
      if (face !== "socket") throw onlyByCommand();
      const granted = trust.grant(rootOf(directory, caller), digest);
      parts.trustChanged(granted.snapshot.root);
      return view(parts, granted);
    },
  }),
] as const;

function view(parts: TrustOperationParts, inspection: Inspection): TrustView {
  const { snapshot, powers, digest, record, state } = inspection;
  const { root, project, files, fileDigest, exposure } = snapshot;
  return {
    ...{
      root,
      file: join(root, projectFileName),
      team: parts.teams.claims.nameOf(project),
      state,
      digest,
      files: [...files],
      fileDigest,
    },
    ...{ trustedAt: record?.at ?? null, problem: exposure?.why ?? null, remedy: exposure?.remedy ?? null },
    ...{ starts: linesOf(powers), changes: state === "trusted" ? [] : changesIn(inspection), notCovered },
  };
}

function rootOf(directory: string | undefined, { cwd = "/" }: Caller): string {
  const from = resolve(cwd, directory ?? "");
  const { file, ignored } = findProject(from);
  if (file !== null) return dirname(file);
  const [foreign] = ignored;
  if (foreign)
    throw new TielineError(
      "UNTRUSTED",
      `${foreign.file} belongs to ${userWords(foreign.owner)} and cannot be trusted`,
      { remedy: "copy what you need into your own project", operands: { ...foreign } },
    );
  throw new TielineError("CONFIG_INVALID", `there is no ${projectFileName} in ${from} or above`, {
    remedy: "`tieline init` writes one",
    operands: { directory: from, missing: projectFileName },
  });
}

const onlyByCommand = (): TielineError =>
  new TielineError("NOT_PERMITTED", "a project is trusted on the command line only", {
    remedy: "run `tieline trust` in its directory",
  });
