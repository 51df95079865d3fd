import { check } from "../../config/check.ts";
import { ProfileFields } from "../../config/profileFields.ts";
import { invalid, parseYaml } from "../../config/text.ts";

const fence = /^---[ \t]*$/;

/** A profile as a Markdown file: settings between two lines `---` at the top, and below them the prompt. */
export function parseProfileFile(file: string, text: string): ProfileFields {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  if (!fence.test(lines[0]!)) return withPrompt(file, {}, lines.join("\n"), 1);
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line));
  if (end < 0) throw invalid({ file, line: 1, column: 1 }, "the front matter has no end", "close it with a line ---");
  const fields = check(ProfileFields, parseYaml(file, lines.slice(1, end).join("\n"), 2));
  return withPrompt(file, fields, lines.slice(end + 1).join("\n"), end + 2);
}

function withPrompt(file: string, fields: ProfileFields, body: string, line: number): ProfileFields {
  const prompt = body.trim();
  if (prompt === "") return fields;
  if (fields.prompt !== undefined) {
    throw invalid({ file, line, column: 1 }, "there are two prompts: prompt: and the text below", "keep one of them");
  }
  return { ...fields, prompt };
}
