/** docs/api.md, from the same definitions as docs/openapi.json. */
import { accessWords } from "../api/access.ts";
import { definitions } from "../api/operations/index.ts";
import { methods, pathOf } from "../api/wire.ts";
import type { OperationName } from "../api/schema.ts";

const intro = `# The API

The command line uses this API, so a program can do everything that a command can. \`docs/openapi.json\` describes
every field (OpenAPI 3.1; the daemon serves it at \`/v1/openapi.json\`). It is generated from the schemas that
validate requests.

## Connect and authenticate

| | |
|---|---|
| unix socket | \`daemon.sock\` in the home (\`~/.tieline\`, or \`TIELINE_HOME\`), mode 0600 |
| loopback | \`http://127.0.0.1:PORT\`; a random port, stored in the file \`port\` of the home; \`http.port\` in \
\`config.json\` sets another |

Prefer the socket: only your own user can open it. On the loopback port every request needs \`Authorization: Bearer
TOKEN\`: an agent's \`TIELINE_TOKEN\`, or the user's, from \`user.token\` in the home. The token is checked before
anything else is read, and it alone identifies the caller. Without a valid one no operation, \`/metrics\`, \`/mcp\` or
\`/v1/openapi.json\` answers. The Host header must be localhost or 127.0.0.1, and an Origin must be the dashboard's.
While the daemon is down, another user of the machine can listen at its port and receive your token.

On the socket the token is optional: a caller may send its process, session or pane in \`x-tieline-caller\` (URI-encoded
JSON), and the daemon identifies it. On the port only \`team\`, \`cwd\` and \`agentVariables\` of that header count.

    TOKEN=$(cat ~/.tieline/user.token); PORT=$(cat ~/.tieline/port)
    curl -H "Authorization: Bearer $TOKEN" -d '{"to":"engineer","body":"please look"}' http://127.0.0.1:$PORT/v1/send
    curl --unix-socket ~/.tieline/daemon.sock -H "Authorization: Bearer $TOKEN" http://tieline/v1/ls

## Teams

Names are looked up in the caller's team. A request sets it in \`x-tieline-caller\`: \`{"team":"web"}\`, URI-encoded.
Without it, the team is that of the nearest \`tieline.yaml\` above the header's \`cwd\`, else \`default\`. An agent
that calls with its own token is always in its own team.

    curl -H "Authorization: Bearer $TOKEN" -H 'x-tieline-caller: %7B%22team%22%3A%22web%22%7D' \
http://127.0.0.1:$PORT/v1/ls
    curl -H "Authorization: Bearer $TOKEN" -d '{"to":"web:engineer","body":"please look"}' \
http://127.0.0.1:$PORT/v1/send

An address may contain the team, as in the second line. The parameter \`team\` of \`log\`, \`dead\`, \`inbox\` and
\`events\` selects what is listed.

## Requests and responses

Reads are GET with the input in the query. Other calls are POST with a JSON object. Responses are JSON. Times are
milliseconds since the epoch. An unknown parameter is an error (\`USAGE\`). A \`key\` makes a send idempotent: the
same key from the same sender is the same message.

An error is \`application/problem+json\` with \`code\` (docs/errors.md lists them), \`detail\`, \`remedy\` and
\`operands\`:

    {"type":"about:blank","title":"ADDRESS_UNKNOWN","status":404,"code":"ADDRESS_UNKNOWN",
     "detail":"no agent \\"codr\\" in team web; did you mean \\"coder\\"?","remedy":"…","operands":{"near":["coder"]}}

Reading mail takes two calls, so that a crash in between loses nothing: \`collect\` fetches it, \`collected\` confirms
that it was shown. Mail that is not confirmed within ten seconds is \`uncertain\`.

\`events\` with \`Accept: text/event-stream\` is a live stream; every event has an id, and \`Last-Event-ID\` resumes
after it.

## Limits of the port

| What | Limit | Beyond it |
|---|---|---|
| headers | 16 KiB, complete within 5 s | 431, 408 |
| body | 8 MiB for \`send\`, \`reply\`, \`profileAdd\` and \`/mcp\`, 256 KiB for everything else; complete within 10 \
s | 413 \`BODY_TOO_LONG\`, 408 |
| connections without a valid token or session | 64 | the oldest is closed |
| connections in all | 256 | the new one is closed |
| a connection without a request | 5 s | it is closed |

The body limits also apply on the socket.

## Operations

An agent may read its own mail and screen, those of agents that it spawned, and with \`may: [read]\` those of its
team. It may read a message if it may read the sender or a recipient. For other callers the message does not exist.

| Call | What it does | Allowed for |
|---|---|---|
`;

export function apiPage(): string {
  const rows = (Object.keys(methods) as OperationName[]).map((name) => {
    const { summary, access } = definitions[name];
    return `| \`${methods[name]} ${pathOf(name)}\` | ${summary} | ${accessWords[access]} |`;
  });
  return `${intro}${rows.join("\n")}\n`;
}
