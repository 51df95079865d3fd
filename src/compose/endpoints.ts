/** Every kind of endpoint in one union. Endpoints that are read from documents are parsed by it. */
import { z } from "zod";
import type { ReadEndpoints } from "../agents/directory/directory.ts";
import { bothKind } from "../delivery/transports/bothEndpoint.ts";
import { filesKind } from "../delivery/transports/filesEndpoint.ts";
import { hookKind } from "../delivery/transports/hook/transport.ts";
import { objectKind } from "../delivery/transports/object/transport.ts";
import { tmuxEndpoint } from "../delivery/transports/paneEndpoint.ts";
import { pullKind } from "../delivery/transports/pull/transport.ts";
import { stdinKind } from "../delivery/transports/streams.ts";
import { TielineError } from "../model/errors.ts";
import { providers } from "./providers.ts";

const endpointSchema = z.discriminatedUnion("transport", [
  tmuxEndpoint.schema,
  hookKind.schema,
  pullKind.schema,
  objectKind.schema,
  stdinKind.schema,
  filesKind.schema,
  bothKind.schema,
  ...providers.all.flatMap(({ endpoints = [] }) => endpoints),
]);
type KnownEndpoint = z.infer<typeof endpointSchema>;

/** An endpoint that cannot be read is dropped and reported: the agent keeps the others. */
export function readEndpointsWith(report: (context: string, fault: unknown) => void): ReadEndpoints {
  return ({ team, name }, stored) => {
    const all = z.array(z.unknown()).catch([]).parse(stored);
    return all.flatMap((one): KnownEndpoint[] => {
      const read = endpointSchema.safeParse(one);
      if (read.success) return [read.data];
      const why = read.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
      report(
        `read the endpoints of ${team}:${name}`,
        new TielineError("STORE_CORRUPT", `a stored endpoint of ${team}:${name} cannot be read (${why})`, {
          remedy: `\`tieline restart ${team}:${name}\` makes its endpoints again`,
          operands: { agent: `${team}:${name}` },
        }),
      );
      return [];
    });
  };
}
