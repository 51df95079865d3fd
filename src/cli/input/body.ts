import { createReadStream } from "node:fs";
import { TielineError } from "../../model/errors.ts";
import { maxBodyBytes } from "../../model/message.ts";

/** The text of a message from a file, or from stdin when the file is `-`, byte for byte. */
export async function readBody(words: readonly string[], file: string | undefined): Promise<string> {
  if (file === undefined) throw empty();
  if (words.length > 0) {
    throw new TielineError("USAGE", "the text is given twice, as arguments and as a file", {
      remedy: "leave one of them out; text that begins with - goes after --",
    });
  }
  return decode(await readBytes(file), file);
}

/** Stops reading when it has seen too much, so that a wrong file cannot fill the memory. */
async function readBytes(file: string): Promise<Uint8Array> {
  // Bun's own stream cannot read from a device such as /dev/null.
  const source: AsyncIterable<Uint8Array> = file === "-" ? Bun.stdin.stream() : createReadStream(file);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > maxBodyBytes) throw tooLong(file);
    }
  } catch (cause) {
    if (cause instanceof TielineError) throw cause;
    throw new TielineError("USAGE", `cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      remedy: "give a file that exists and can be read",
      operands: { file },
      cause,
    });
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new TielineError("BODY_NOT_TEXT", `${file === "-" ? "stdin" : file} is not valid UTF-8`, {
      remedy: "send UTF-8 text; put binary data in a file and send its path",
      operands: { file },
      cause,
    });
  }
}

function tooLong(file: string): TielineError {
  return new TielineError("BODY_TOO_LONG", `${file === "-" ? "stdin" : file} has more than ${maxBodyBytes} bytes`, {
    remedy: "send the path of the file instead",
    operands: { limit: maxBodyBytes },
  });
}

function empty(): TielineError {
  return new TielineError("BODY_EMPTY", "the message is empty", {
    remedy: "write some text, or use -f FILE, or - for stdin",
  });
}
