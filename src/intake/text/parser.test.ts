import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createTextParser, type RejectedFragment, type TextParserOptions } from "./parser.ts";
import { cutAt, transcript } from "../../testing/transcripts.ts";

const lines = (...text: string[]) => text.join("\n");

function parse(text: string, options: TextParserOptions = {}) {
  const rejected: RejectedFragment[] = [];
  const parser = createTextParser({ ...options, onRejected: (fragment) => rejected.push(fragment) });
  const found = [...parser.push(text), ...parser.end()];
  return {
    messages: found.map(({ to, content }) => [to, content]),
    rejected: rejected.map(({ reason, to }) => [reason, to]),
    found,
  };
}

const block = (to: string, content: string) => `<<SWARM_MSG:${to}:START>>${content}<<SWARM_MSG:END>>`;

const cases: Record<string, [text: string, messages: [string, string][]]> = {
  "an address at the start of a line": ["@coder: hello", [["coder", "hello"]]],
  "a broadcast": ["@all: done", [["@all", "done"]]],
  "a name with hyphens, underscores and digits": ["@front-end_2: hi", [["front-end_2", "hi"]]],
  "up to three spaces before it": ["   @coder: hello", [["coder", "hello"]]],
  "after ASST:": ["ASST: @all: Task done.", [["@all", "Task done."]]],
  "after a sentence, over several lines": [
    lines("ASST: I read it. @coder: Please do", "section 3. Thanks"),
    [["coder", "Please do\nsection 3. Thanks"]],
  ],
  "after a sentence in bold or brackets": [
    "**Done.** @a: x. (See it!) @b: y",
    [
      ["a", "x. (See it!)"],
      ["b", "y"],
    ],
  ],
  "after a sentence without spaces, where the language has none": ["完成了。@a: 看", [["a", "看"]]],
  "an address in bold or italics, with its colon or without": [
    lines("**@a:** one", "**@b**: two", "*@c:* three. __@d:__ four. _@e_: five", "***@f:*** six"),
    [
      ["a", "one"],
      ["b", "two"],
      ["c", "three."],
      ["d", "four."],
      ["e", "five"],
      ["f", "six"],
    ],
  ],
  "an address in a list": [
    lines("To do:", "- @a: one", "  * **@b:** two", "3. @c: three", "+ @d: four"),
    [
      ["a", "one"],
      ["b", "two"],
      ["c", "three"],
      ["d", "four"],
    ],
  ],
  "no address in emphasis that continues": ["**@a: one** and *@b: two", []],
  "a coloured address, and no colours in the text": [
    "\x1b[1;32m@a:\x1b[0m do \x1b[31mthis\x1b[0m\n\x1b[2m\x1b[K- \x1b[36m@b:\x1b[0m that\x1b[0m",
    [
      ["a", "do this"],
      ["b", "that"],
    ],
  ],
  "coloured markers, titles and links": [
    "\x1b]0;title\x07\x1b[32m<<SWARM_MSG:TO=a:START>>\x1b[0mread " +
      "\x1b]8;;http://x\x1b\\this\x1b]8;;\x1b\\\x1b[0m<<SWARM_MSG:END>>",
    [["a", "read this"]],
  ],
  "escape sequences that are broken or never end": [
    "\x1b]never ends\n@a: one\n\x1b[31\n@b: two\x1b",
    [
      ["a", "one"],
      ["b", "two"],
    ],
  ],
  "text on the lines after the address": ["@a:\nfirst\n\nsecond\n", [["a", "first\n\nsecond"]]],
  "until the next address": [
    "@a: one\n@b: two. @c: three",
    [
      ["a", "one"],
      ["b", "two."],
      ["c", "three"],
    ],
  ],
  "until a blank line and a turn marker": ["@a: one\n\ntwo\n\nASST: something else", [["a", "one\n\ntwo"]]],
  "until a blank line and a log entry": ["@a: one\n\n[2026-01-31 09:00:00] TOOL: ls", [["a", "one"]]],
  "not at a turn marker without the blank line": ["@a: one\nUSER: said so", [["a", "one\nUSER: said so"]]],
  "not at capitals that mark nothing": ["@a: one\n\nNOTE: two", [["a", "one\n\nNOTE: two"]]],
  "Windows line ends": [
    "@a: one\r\n@b: two\r\n",
    [
      ["a", "one"],
      ["b", "two"],
    ],
  ],
  "a fence inside a message": [
    lines("@a: run", "```sh", "@b: no", "```", "thanks"),
    [["a", "run\n```sh\n@b: no\n```\nthanks"]],
  ],
  "nothing inside fences": [
    lines("```", "@a: x", "````js", "```", "~~~~ text", "@b: x", "~~~", "~~~~", "@c: yes"),
    [["c", "yes"]],
  ],
  "nothing inside a fence in a list": [lines("- ```", "  @a: x", "  ```", "@b: yes"), [["b", "yes"]]],
  "nothing after a fence that stays open": ["```\n@a: x\n\n@b: y", []],
  "inline code is no fence": ["```x```\n@a: yes", [["a", "yes"]]],
  "nothing in quoted lines": ["> @a: x\n  > Done. @b: y\n@c: yes", [["c", "yes"]]],
  "nothing in indented code": ["    @a: x\n\t@b: y", []],
  "nothing in inline code": ["Use `Done. @a: x` here. And ``Done. @b: x`` there.", []],
  "nothing in quotations": [`He said "Done. @a: x" and “Done. @b: x” and 'Done. @c: x' and «Done. @d: x».`, []],
  "a lone quotation mark quotes nothing": [`It's a 5" screen. @a: look`, [["a", "look"]]],
  "no e-mail address": ["Write to me@coder: fine\nmail@example.com: x\n. ana@b: x", []],
  "no package, host or option": ["@scope/name: x\n@scope:registry=x\n@x.com: y\n@1a: z\n@-a: z", []],
  "not in the middle of a sentence": ["ask @coder: maybe", []],
  "a block": [block("TO=coder", "\nhello\n"), [["coder", "hello"]]],
  "a block without newlines": [block("TO=my-coder", "hello"), [["my-coder", "hello"]]],
  "a broadcast block": [block("BROADCAST", " done "), [["@all", "done"]]],
  "blocks on one line, in order": [
    `x ${block("TO=a", "1")}${block("BROADCAST", "2")} @c: 3`,
    [
      ["a", "1"],
      ["@all", "2"],
      ["c", "3"],
    ],
  ],
  "an address ended by a block": [
    `@a: one ${block("TO=b", "two")}`,
    [
      ["a", "one"],
      ["b", "two"],
    ],
  ],
  "anything inside a block": [
    block("TO=a", "```\n@b: x\n\nASST: <<SWARM_MSG:TO=c:START>> y"),
    [["a", "```\n@b: x\n\nASST: <<SWARM_MSG:TO=c:START>> y"]],
  ],
  "no block in a fence": [`\`\`\`\n${block("TO=a", "x")}\n\`\`\``, []],
  "no block in quotes": [`> ${block("TO=a", "x")}\nsend \`${block("TO=b", "x")}\``, []],
};

describe("what is a message", () => {
  for (const [name, [text, messages]] of Object.entries(cases)) {
    test(name, () => expect(parse(text).messages).toEqual(messages));
  }

  test("`at` says where each message begins", () => {
    const text = `Hello.\n@a: x\n${block("TO=b", "y")}\nOk. @c: z`;
    expect(parse(text).found.map(({ at }) => text.slice(at, at + 3))).toEqual(["@a:", "<<S", "@c:"]);
  });
});

describe("what is rejected, with the reason", () => {
  test("a block that the turn ends", () => {
    expect(parse("<<SWARM_MSG:TO=a:START>>half")).toMatchObject({ messages: [], rejected: [["unterminated", "a"]] });
  });

  test("a block that the next one ends; the next one is sent", () => {
    const text = `<<SWARM_MSG:TO=a:START>>half\n${block("TO=b", "whole")}`;
    expect(parse(text)).toMatchObject({ messages: [["b", "whole"]], rejected: [["unterminated", "a"]] });
  });

  test("nothing to say", () => {
    expect(parse(`@a:\n@b: x\n${block("TO=c", " \n ")}`)).toMatchObject({
      messages: [["b", "x"]],
      rejected: [
        ["empty", "a"],
        ["empty", "c"],
      ],
    });
  });

  test("a marker with a bad name", () => {
    expect(parse("<<SWARM_MSG:TO=no body:START>>x<<SWARM_MSG:END>>")).toMatchObject({
      messages: [],
      rejected: [["malformed", ""]],
    });
  });

  test("too much; what follows is found", () => {
    const long = "x".repeat(101);
    expect(parse(`@a: ${long}\n@b: y\n${block("TO=c", long)} @d: z`, { maxContent: 100 })).toMatchObject({
      messages: [
        ["b", "y"],
        ["d", "z"],
      ],
      rejected: [
        ["too-long", "a"],
        ["too-long", "c"],
      ],
    });
  });

  test("the limit is for the content alone, without the white space around it", () => {
    const most = "x".repeat(1 << 20);
    const expected = { messages: [["a", most]], rejected: [] };
    expect(parse(block("TO=a", `\n${most}\n`))).toMatchObject(expected);
    expect(parse(`@a: ${most}\n`)).toMatchObject(expected);
    expect(parse(`@a:\n\n${most} \n\n`)).toMatchObject(expected);
    expect(parse(block("TO=a", `\n${most}x\n`))).toMatchObject({ messages: [], rejected: [["too-long", "a"]] });
    expect(parse(block("TO=a", `x${" ".repeat(1 << 20)}x`))).toMatchObject({
      messages: [],
      rejected: [["too-long", "a"]],
    });
    expect(parse(block("TO=a", `x${" ".repeat(3 << 20)}`))).toMatchObject({ messages: [["a", "x"]], rejected: [] });
  });

  test("what is held back stays bounded however long the line is", () => {
    const parser = createTextParser({ maxContent: 100 });
    const before = parser.push("@a: ");
    for (let i = 0; i < 10_000; i++) parser.push("x. @b: y ");
    expect([...before, ...parser.push("\n@c: z"), ...parser.end()].at(-1)).toMatchObject({ to: "c", content: "z" });
  });
});

describe("cutting", () => {
  test("any transcript gives the same messages and rejections, however it is cut", () => {
    fc.assert(
      fc.property(transcript, fc.array(fc.nat(400)), fc.constantFrom(20, 1 << 20), (text, cuts, maxContent) => {
        const whole: unknown[] = [];
        const parts: unknown[] = [];
        const one = createTextParser({ maxContent, onRejected: (fragment) => whole.push(fragment) });
        const many = createTextParser({ maxContent, onRejected: (fragment) => parts.push(fragment) });
        const expected = [...one.push(text), ...one.end()];
        const found = cutAt(text, cuts).flatMap((chunk) => many.push(chunk));
        const peeked = many.peekEnd();
        expect([...found, ...peeked]).toEqual(expected);
        expect([...found, ...many.end()]).toEqual(expected);
        expect(parts).toEqual(whole);
      }),
      { numRuns: 2000 },
    );
  });

  test("a line longer than the limit gives the same messages at every cut", () => {
    const text = `@a: hi. ${"x. @b: y ".repeat(150)}\n@c: z. ${block("TO=d", "w".repeat(1500))}\n@e: v`;
    const whole = parse(text, { maxContent: 30 });
    for (let cut = 0; cut < text.length; cut += 7) {
      const parser = createTextParser({ maxContent: 30 });
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut)), ...parser.end()]).toEqual(
        whole.found,
      );
    }
  });

  test("a parser begins a new turn after the end", () => {
    const parser = createTextParser();
    parser.push("```\n<<SWARM");
    parser.end();
    parser.push("<<SWARM_MSG:TO=a:START>>x");
    parser.end();
    parser.push("@a: y");
    expect(parser.end()).toEqual([{ to: "a", content: "y", at: 0 }]);
  });
});
