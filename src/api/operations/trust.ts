import { dirname, join, resolve } from "node:path";
import type { TrustView } from "../schemas/trust.ts";
import type { Caller } from "../schema.ts";
import type { Switch } from "../../compose/index.ts";
import { projectFileName } from "../../config/project.ts";
import { findProject } from "../../config/projects.ts";
import { TielineError } from "../../model/errors.ts";
import { userWords } from "../../os/accounts.ts";
import { changesIn, type Inspection } from "../../agents/trust/trust.ts";
import { linesOf, notCovered } from "../../agents/trust/words.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";

export function trustOperations(tieline: Switch, callers: Callers): Pick<Operations, "trustShow" | "trust"> {
  const { trust } = tieline;

  return {
    async trustShow({ directory }, { caller }) {
      await callers.user(caller);
      return view(trust.inspect(rootOf(directory, caller)));
    },

    /** Only the user, and only where no page and no token of an agent could speak for them. */
    async trust({ directory, digest }, { caller, face }) {
      await callers.user(caller);
      if (face !== "socket") throw onlyByCommand();
      const granted = trust.grant(rootOf(directory, caller), digest);
      tieline.trustChanged(granted.snapshot.root);
      return view(granted);
    },
  };

  function view(inspection: Inspection): TrustView {
    const { snapshot, powers, digest, record, state } = inspection;
    const { root, project, files, fileDigest, exposure } = snapshot;
    return {
      ...{
        root,
        file: join(root, projectFileName),
        team: tieline.teams.claims.nameOf(project),
        state,
        digest,
        files: [...files],
        fileDigest,
      },
      ...{ trustedAt: record?.at ?? null, problem: exposure?.why ?? null, remedy: exposure?.remedy ?? null },
      ...{ starts: linesOf(powers), changes: state === "trusted" ? [] : changesIn(inspection), notCovered },
    };
  }
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
