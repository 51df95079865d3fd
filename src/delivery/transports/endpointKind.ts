/**
 * Each transport defines the endpoints of its own kind. `compose/endpoints.ts` joins their schemas into one union, and
 * parses what is read from disk with it. Code that needs a locator asks the kind for it, and gets it typed.
 */
import { z } from "zod";
import type { Agent, Endpoint } from "../../model/agent.ts";

export function endpointKind<const Transport extends string, Shape extends z.ZodRawShape>(
  transport: Transport,
  shape: Shape,
) {
  const schema = z.object({ transport: z.literal(transport), locator: z.object(shape) });
  type Locator = Readonly<z.output<z.ZodObject<Shape>>>;
  type Own = Endpoint<Locator> & { readonly transport: Transport };
  const is = (endpoint: Endpoint): endpoint is Own => endpoint.transport === transport;
  return {
    transport,
    schema,
    is,
    make: (locator: Locator): Own => ({ transport, locator }),
    /** The agent's endpoint of this kind. */
    of: ({ endpoints }: Pick<Agent, "endpoints">): Own | undefined => endpoints.find(is),
    /** Only for an endpoint that was chosen for this transport. */
    locatorOf(endpoint: Endpoint): Locator {
      if (is(endpoint)) return endpoint.locator;
      throw new TypeError(`${endpoint.transport} is not an endpoint of ${transport}`);
    },
  };
}

/** The schema of any kind of endpoint. */
export type EndpointSchema = z.ZodObject<{ transport: z.ZodLiteral<string>; locator: z.ZodObject }>;

export type LocatorOf<Kind extends { make(locator: never): Endpoint }> = ReturnType<Kind["make"]>["locator"];
