// Asks the daemon for the answer to a hook call in the spool and prints it: ask.mjs <socket> <path of the call>
// It imports nothing, so that it starts in a few milliseconds, and always exits with 0.
const [socket, call] = process.argv.slice(2);
// Programs give up a hook after five seconds or more; then nothing could be said about what became of the answer.
const signal = AbortSignal.timeout(4_000);
const token = process.env.TIELINE_TOKEN;

async function post(operation, input) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const request = { unix: socket, method: "POST", headers, body: JSON.stringify(input), signal };
  const response = await fetch(`http://tieline/v1/${operation}`, request);
  if (!response.ok) throw new Error(`the daemon answered ${response.status}`);
  return response.json();
}

try {
  const { answer, receipt } = await post("hook", { call: call.split("/").at(-1) });
  if (answer !== null) await Bun.write(Bun.stdout, `${JSON.stringify(answer)}\n`);
  if (receipt !== null) await post("hookWritten", { receipt });
} catch {
  // The agent must continue. The daemon observes the call later, unless it has taken it already.
  if (await Bun.file(`${call}.call`).exists()) await Bun.write(`${call}.done`, "");
}
process.exit(0);
