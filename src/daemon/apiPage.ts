/** docs/api.md, from the same table as docs/openapi.json. */
import { access, accessWords } from "../api/access.ts";
import { operations, pathOf } from "../api/operations.ts";
import type { OperationName } from "../api/schema.ts";
import { summaries } from "../api/summaries.ts";

const intro = `# The API

Whatever the command line can do, a program can do: both are the same calls. \`docs/openapi.json\` describes every field
(OpenAPI 3.1; the daemon serves it at \`/v1/openapi.json\`); it is made from the schemas that requests are validated with.

## Where, and who you are

| | |
|---|---|
| unix socket | \`daemon.sock\` in the home (\`~/.tieline\`, or \`TIELINE_HOME\`), mode 0600 |
| loopback | \`http://127.0.0.1:PORT\`; the port is drawn once and stands in the file \`port\` of the home; \`http.port\` in \`config.json\` sets another |

Prefer the socket: only your own user can open it. On the loopback port every request carries
\`Authorization: Bearer TOKEN\`: an agent's own \`TIELINE_TOKEN\`, or the user's, which is in \`user.token\` in the home. The
token is checked before anything else of a request is read, and it alone says who calls; without a valid one no operation,
\`/metrics\`, \`/mcp\` or \`/v1/openapi.json\` answers. A Host that is not this machine and an Origin that is not the port's own
page are refused. While the daemon is down, another user of the machine can listen at its port and be given your token.

On the socket the token is optional: a caller may say in \`x-tieline-caller\` (URI-encoded JSON) which process, session or
pane it is, and the daemon decides who that is. On the port only \`team\`, \`cwd\` and \`agentVariables\` of that header count.

    TOKEN=$(cat ~/.tieline/user.token); PORT=$(cat ~/.tieline/port)
    curl -H "Authorization: Bearer $TOKEN" -d '{"to":"engineer","body":"please look"}' http://127.0.0.1:$PORT/v1/send
    curl --unix-socket ~/.tieline/daemon.sock -H "Authorization: Bearer $TOKEN" http://tieline/v1/ls

## Which team

Names are looked up in the caller's team. A command says it with \`--team\`; a request says it in \`x-tieline-caller\`, on the socket
and on the port alike: \`{"team":"web"}\`, URI-encoded. Without it the team is that of the nearest \`tieline.yaml\` above the header's
\`cwd\`, else \`default\`. An agent that calls with its own token is always in its own team.

    curl -H "Authorization: Bearer $TOKEN" -H 'x-tieline-caller: %7B%22team%22%3A%22web%22%7D' http://127.0.0.1:$PORT/v1/ls
    curl -H "Authorization: Bearer $TOKEN" -d '{"to":"web:engineer","body":"please look"}' http://127.0.0.1:$PORT/v1/send

An address may name the team itself, as in the second line. \`team\` as a parameter of \`log\`, \`dead\`, \`inbox\` and \`events\` selects
what is listed.

## How

Reads are GET with the input in the query; the rest is POST with a JSON object. Answers are JSON. Times are milliseconds
since the epoch. An unknown parameter is refused (\`USAGE\`). A \`key\` makes a send safe to repeat: the same key from the same sender is the same message.

A refusal is \`application/problem+json\` with \`code\` (docs/errors.md lists them), \`detail\`, \`remedy\` and \`operands\`:

    {"type":"about:blank","title":"ADDRESS_UNKNOWN","status":404,"code":"ADDRESS_UNKNOWN",
     "detail":"no agent \\"codr\\" in team web; did you mean \\"coder\\"?","remedy":"…","operands":{"near":["coder"]}}

Reading mail takes two calls, so that a reader who dies in between loses nothing: \`collect\` takes it out of the queue,
\`collected\` says that it was shown. What nobody confirms within ten seconds is \`uncertain\`, and its sender can see that.

\`events\` with \`Accept: text/event-stream\` is a live stream; every event has an id, and \`Last-Event-ID\` goes on after it.

## Limits of the port

| What | Limit | Beyond it |
|---|---|---|
| headers | 16 KiB, complete within 5 s | 431, 408 |
| body | 8 MiB for \`send\`, \`reply\`, \`profileAdd\` and \`/mcp\`, 256 KiB for everything else; complete within 10 s | 413 \`BODY_TOO_LONG\`, 408 |
| connections without a valid token or session | 64 | the oldest is closed |
| connections in all | 256 | the new one is closed |
| a connection without a request | 5 s | it is closed |

The sizes of bodies hold on the socket as well.

## Operations

An agent may read itself, the agents that it spawned, and with \`may: [read]\` the agents of its team: their mail and their screens.
It may read a message when it may read an agent that wrote or got it; to others there is no such message.

| Call | What it does | Who may call it |
|---|---|---|
`;

export function apiPage(): string {
  const rows = (Object.keys(operations) as OperationName[]).map(
    (name) => `| \`${operations[name]} ${pathOf(name)}\` | ${summaries[name] ?? ""} | ${accessWords[access[name]]} |`,
  );
  return `${intro}${rows.join("\n")}\n`;
}
