import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { userId } from "../../../model/agent.ts";
import { seal, type Sender } from "../../../model/message.ts";
import { composerHolds } from "../../../providers/screen.ts";
import { anAgent } from "../../../testing/agents.ts";
import { paneText } from "./text.ts";
import { providers } from "../../../compose/providers.ts";

const user = { id: userId, name: "user", team: "web", knownBy: "token" } as const;

const bob = { ...user, id: anAgent({ name: "bob" }).id, name: "bob" };

function pasted(provider: string, body: string, rows = 40, from: Sender = user): string {
  const message = seal({ to: "ana", body }, from, { inReplyTo: null, hops: 1 });
  return paneText(
    message,
    providers.terminal(provider),
    { multiline: true, lineLimit: null, room: { columns: 80, rows } },
    "user",
  )!.text;
}

test("Codex is given short and plain words as they are", () => {
  expect(pasted("codex", "grüße an 世界")).toEndWith("]");
  expect(pasted("codex", "x".repeat(2_000))).toEndWith("]");
});

test.each([
  ["joined emoji", "family 👩‍👩‍👧"],
  ["marks", "e\u0301\u0323"],
  ["what is invisible", "a\u202eb\u200d"],
  ["more lines than its composer shows", "line\n".repeat(20)],
])("Codex shows %s as a mark of their size, which blanks at the end bring about", (_what, body) => {
  const text = pasted("codex", body);
  expect([...text]).toHaveLength(1_001);
  expect(text.trimEnd()).toEndWith("]");
  const screen = { lines: ["\x1b[1m›\x1b[0m [Pasted Content 1001 chars]", "", "  GPT-5.5 default · /home/dev/proj"] };
  expect(composerHolds(providers.screen("codex"), screen, text)).toBe("collapsed");
  expect(pasted("claude-code", body)).toEndWith("]");
});

test("Gemini CLI never gets an @ that it would expand to a file, and its reader sees that", () => {
  const text = pasted("gemini", "see @notes.txt, bob@host and \\@literal");
  expect(text).toContain("\nsee \\@notes.txt, bob\\@host and \\\\@literal\n");
  expect(text).toEndWith("]\n[read \\@ without the backslash]");
  expect(pasted("gemini", `@notes.txt ${"x".repeat(100_000)}`)).not.toMatch(/(?<!\\)@/);
  expect(pasted("gemini", "nothing of that kind")).toEndWith("]");
  expect(pasted("codex", "see @notes.txt")).toContain("\nsee @notes.txt\n");
});

test("no agent makes Codex add a skill or a plugin; the user may", () => {
  const body = "run $deploy, \\$deploy, [$deploy](x), [@mail](plugin://mail) for $5 to bob@host";
  expect(pasted("codex", body, 40, bob)).toContain(
    "\nrun $\\deploy, \\$\\deploy, [$\\deploy](x), [@\\mail](plugin://mail) for $\\5 to bob@host\n",
  );
  expect(pasted("codex", body, 40, bob)).toContain("]\n[read $\\ and [@\\ without the backslash]");
  expect(pasted("codex", body)).toContain(`\n${body}\n`);
});

test("no agent makes Claude Code attach a file; the user may", () => {
  expect(pasted("claude-code", "see @notes.txt", 40, bob)).toContain("\nsee \\@notes.txt\n");
  expect(pasted("claude-code", "see @notes.txt")).toContain("\nsee @notes.txt\n");
});

describe("what would run its text", () => {
  const arbitraryBody = fc
    .string({ unit: "binary", minLength: 1, maxLength: 60 })
    .map((text) => text.replaceAll("\0", ""))
    .filter((text) => text.trim() !== "" && text.isWellFormed());
  const nasty = fc
    .array(
      fc.oneof(
        arbitraryBody,
        fc.constantFrom(
          "\n",
          "\r",
          "\u2028",
          "\u2029",
          "\u0085",
          "\v",
          "\f",
          "\t",
          "'",
          "\\",
          "\\'",
          "!",
          "*/",
          "?>",
          "--",
          '"',
          "`id`",
          "$(id)",
          ";",
          "'; id; '",
          "\\'; id; '",
        ),
      ),
      { minLength: 1, maxLength: 8 },
    )
    .map((parts) => parts.join(""))
    .filter((text) => text.trim() !== "" && text.isWellFormed());
  const given = (provider: string, body: string, more: object): string | undefined =>
    paneText(
      seal({ to: "ana", body }, bob, { inReplyTo: null, hops: 1 }),
      providers.terminal(provider),
      { multiline: false, lineLimit: 4_000, room: null, ...more },
      "user",
    )?.text;

  test.each(["# ", "// ", "-- ", "; ", "% "])(
    "an interpreter gets one line that begins with %j, and no character in it ends that line",
    (comment) => {
      fc.assert(
        fc.property(nasty, (body) => {
          const text = given("repl", body, { comment })!;
          expect(text).toStartWith(`${comment}MSG_BOB_`);
          expect(text).not.toMatch(/[\n\r\v\f\u0085\u2028\u2029\t]/);
          expect(text).not.toEndWith("\\");
        }),
      );
    },
  );

  test("an interpreter without comments gets nothing", () => {
    expect(given("repl", "hello", { comment: null })).toBeUndefined();
  });

  test("a POSIX shell gets one word that it leaves alone, and so does every shell that is not known as one", () => {
    fc.assert(
      fc.property(nasty, (body) => {
        const posix = given("shell", body, { posix: true })!;
        // As such a shell reads it: quoted parts, and quotes that are escaped between them.
        expect(posix).toMatch(/^: '(?:[^']|'\\'')*'$/);
        const other = given("shell", body, { posix: false })!;
        expect(other).toMatch(/^: '[^'\\!]*'$/);
      }),
    );
  });
});
