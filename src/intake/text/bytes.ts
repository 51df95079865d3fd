import { createTextParser, type ParsedMessage, type TextParserOptions } from "./parser.ts";

export interface ByteParser {
  push(chunk: Uint8Array): ParsedMessage[];
  end(): ParsedMessage[];
}

/** The text parser for a stream of UTF-8 bytes, which may be cut inside a character. */
export function createByteParser(options: TextParserOptions = {}): ByteParser {
  const parser = createTextParser(options);
  let decoder = new TextDecoder();
  return {
    push: (chunk) => parser.push(decoder.decode(chunk, { stream: true })),
    end() {
      const found = parser.push(decoder.decode());
      decoder = new TextDecoder();
      return [...found, ...parser.end()];
    },
  };
}
