import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { objectTeam } from "../../../testing/objectTeam.ts";
import { transportContract } from "../../../testing/transportContract.ts";
import { objectEndpoint, objectTransport } from "./transport.ts";

/** An object that writes down that it was started, and what it is given, a line each. */
const clerk = (book: string): string => `
import { appendFileSync } from "node:fs";
appendFileSync(${JSON.stringify(`${book}.started`)}, "");
export const onMessage = (_, content) => appendFileSync(${JSON.stringify(book)}, JSON.stringify(content) + "\\n");
`;

transportContract(
  "object",
  async () => {
    const team = await objectTeam();
    const book = join(team.root, "book.jsonl");
    const module = team.file("clerk.ts", clerk(book));
    team.configure(`objects:\n  clerk: { module: "${module}" }\n`);
    return {
      transport: objectTransport(team.objects),
      agent: team.directory.roster.named("web", "clerk")!,
      endpoint: objectEndpoint,
      received: () =>
        existsSync(book)
          ? readFileSync(book, "utf8")
              .trimEnd()
              .split("\n")
              .map((line) => JSON.parse(line) as string)
          : [],
      observe: () => existsSync(`${book}.started`),
      vanish: async () => team.configure(""),
      [Symbol.asyncDispose]: () => team[Symbol.asyncDispose](),
    };
  },
  { remembers: false, vanished: "gone" },
);
