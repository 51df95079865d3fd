/** How fast the text protocol is read, against the floor: a loop that only splits the same text into lines. */
import { createTextParser } from "../src/intake/text/parser.ts";

const chunkLength = 64 * 1024;
const prose = "The parser reads what an agent prints, line by line, and most lines have no address.\n";
const turns: Record<string, string> = {
  prose: prose.repeat(60),
  "with code": `${prose.repeat(20)}\`\`\`ts\n${"  @decorated() const mail = `me@example.com`;\n".repeat(20)}\`\`\`\n`,
  "with messages":
    `${prose.repeat(30)}Done. @coder: please ` +
    `look\n${prose.repeat(5)}<<SWARM_MSG:TO=ops:START>>\n${prose.repeat(5)}<<SWARM_MSG:END>>\n`,
};

function chunksOf(turn: string, megabytes: number): string[] {
  const text = turn.repeat(Math.ceil((megabytes * 1e6) / turn.length));
  // Through bytes, so that both loops read flat strings as they come from a pipe.
  const flat = new TextDecoder().decode(new TextEncoder().encode(text));
  return Array.from({ length: Math.ceil(flat.length / chunkLength) }, (_, i) =>
    flat.slice(i * chunkLength, (i + 1) * chunkLength),
  );
}

function splitLines(chunks: string[]): number {
  let lines = 0;
  let held = "";
  for (const chunk of chunks) {
    const text = held + chunk;
    let at = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
      lines++;
      at = end + 1;
    }
    held = text.slice(at);
  }
  return lines;
}

function parse(chunks: string[]): number {
  const parser = createTextParser();
  let messages = 0;
  for (const chunk of chunks) messages += parser.push(chunk).length;
  return messages + parser.end().length;
}

function bestRate(run: (chunks: string[]) => number, chunks: string[], megabytes: number): number {
  let best = Infinity;
  for (let i = 0; i < 5; i++) {
    const from = performance.now();
    run(chunks);
    best = Math.min(best, performance.now() - from);
  }
  return (megabytes / best) * 1000;
}

const megabytes = 50;
for (const [name, turn] of Object.entries(turns)) {
  const chunks = chunksOf(turn, megabytes);
  const floor = bestRate(splitLines, chunks, megabytes);
  const rate = bestRate(parse, chunks, megabytes);
  console.log(
    `text-parser ${name}: ${rate.toFixed(0)} MB/s, line splitting ${floor.toFixed(0)} MB/s, ratio ` +
      `${(floor / rate).toFixed(2)}`,
  );
}
