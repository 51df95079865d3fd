/**
 * A screen manifest is data: where a program's composer is, and an ordered list of rules, of which the first that
 * holds names the state. `docs/screens.md` explains it with an example. A rule holds when each condition in `all` holds
 * and none in `none` does; a condition holds when each of its fields does:
 *
 *   title, command   a pattern on the pane's title or foreground command; false while that is not known
 *   composer         present, absent, empty or draft
 *   prompt           the style of the composer's prompt glyph
 *   cursor           in the composer, on the last non-blank line, or hidden; `composer` also holds while the cursor is
 *                    not known; `drawn`: hidden, and the program draws one itself, as a reversed character in the
 *                    composer
 *   alternate        whether the program has the whole screen to itself
 *   styled           whether the capture carries styles at all
 *   coloured         whether any of its text has a colour; without one, rules that look for colours say nothing
 *   resuming         whether the program was started a moment ago to resume a conversation
 *   line             a pattern on one row of the region `in`, limited to the `rows` non-blank rows nearest the composer
 *                    (or the bottom); `style` is asked of the group named `at`, or else of the first visible character;
 *                    `whole` is asked of every visible character of the row
 *
 * Regions: `screen`, `bottom` (default), `above` and `below` the composer, `paragraph` (above it, up to a blank row)
 * and `composer`. Without a composer, `above`, `below`, `paragraph` and `composer` are empty.
 */
import { z } from "zod";
import { TielineError } from "../../model/errors.ts";

export const screenStates = [
  "idle",
  "working",
  "permission",
  "question",
  "dialog",
  "limited",
  "done",
  "unknown",
] as const;
export type ScreenState = (typeof screenStates)[number];

const pattern = z.string().transform((source, context) => {
  try {
    return new RegExp(source, "u");
  } catch (cause) {
    context.addIssue({ code: "custom", message: `not a regular expression: ${String(cause)}` });
    return z.NEVER;
  }
});

const style = z.strictObject({
  /**
   * `frame` is the colour of the border above the composer; `other` is anything but the default; `accent` is the same,
   * but means nothing on a screen without any colour.
   */
  fg: z.enum(["default", "other", "accent", "grey", "colour", "frame"]).optional(),
  bg: z.enum(["default", "other"]).optional(),
  bold: z.boolean().optional(),
  dim: z.boolean().optional(),
  reverse: z.boolean().optional(),
  /** Bold, reversed or coloured in any way: how a menu shows its choice. */
  marked: z.boolean().optional(),
});

const condition = z.strictObject({
  title: pattern.optional(),
  command: pattern.optional(),
  composer: z.enum(["present", "absent", "empty", "draft"]).optional(),
  prompt: style.optional(),
  cursor: z.enum(["composer", "last", "hidden", "drawn"]).optional(),
  alternate: z.boolean().optional(),
  styled: z.boolean().optional(),
  coloured: z.boolean().optional(),
  resuming: z.boolean().optional(),
  line: pattern.optional(),
  in: z.enum(["screen", "bottom", "above", "below", "paragraph", "composer"]).optional(),
  rows: z.number().int().positive().optional(),
  style: style.optional(),
  whole: style.optional(),
});

const rule = z.strictObject({
  name: z.string().min(1),
  state: z.enum(screenStates),
  /** What the rule saw, for `tieline explain`. */
  why: z.string().min(1),
  /** Set where the composer's text does not show a draft. */
  draft: z.boolean().optional(),
  all: z.array(condition).default([]),
  none: z.array(condition).default([]),
});

const oneComposer = z.strictObject({
  /** The borders. Without `bottom` the composer ends at the last blank row before the footer. */
  top: pattern.optional(),
  bottom: pattern.optional(),
  /** What the first row begins with, and how that looks. */
  prompt: pattern,
  promptStyle: style.optional(),
  /** What the further rows begin with. */
  indent: pattern.optional(),
  /** The left side of the box. Without `top`, the box is as high as this matches. */
  side: pattern.optional(),
  /** The right side of the box. */
  edge: pattern.optional(),
  /** The rows after the last blank one inside the box name the model; they are not text. */
  tail: z.boolean().optional(),
  /** How many non-blank rows may be below it. */
  footer: z.number().int().nonnegative(),
  /** A prompt that by itself changes what Enter does, such as a shell mode: always a draft. */
  mode: pattern.optional(),
  /** Hint text that is not dim in this program, and its style where the words alone do not identify it. */
  placeholder: pattern.optional(),
  placeholderStyle: style.optional(),
  /**
   * What the program shows instead of a long paste, with its size in a group named `lines`, `chars` or `units` (of
   * UTF-16).
   */
  paste: pattern.optional(),
  /** It may show the lines of a paste side by side: what counts is that it shows all its characters, and no others. */
  anyOrder: z.boolean().optional(),
  /** From so many lines on a paste is shown that way, whatever the size of the pane. */
  pasteLines: z.number().int().positive().optional(),
});

const composer = oneComposer.extend({
  /** How it looks where it does not look so, such as in a terminal of fewer colours. */
  otherwise: oneComposer.optional(),
});

const retrying = z.strictObject({
  /** The row that says that the program tries again, among those nearest above the composer. */
  line: pattern,
  rows: z.number().int().positive(),
  /** The row that says why, with the words in a group named `error`; without it, that of `line`. */
  because: pattern.optional(),
});

const manifest = z.strictObject({
  provider: z.string().min(1),
  composer: composer.optional(),
  retrying: retrying.optional(),
  rules: z.array(rule),
});

const override = z.strictObject({
  provider: z.string().min(1),
  composer: composer.partial().optional(),
  /** Rules of the same name are replaced in place; the others come before all built-in ones. */
  rules: z.array(rule).default([]),
  without: z.array(z.string()).default([]),
});

export type ScreenManifest = z.infer<typeof manifest>;
export type ScreenRule = z.infer<typeof rule>;
export type Condition = z.infer<typeof condition>;
export type ComposerSpec = z.infer<typeof composer>;
export type OneComposerSpec = z.infer<typeof oneComposer>;
export type StyleSpec = z.infer<typeof style>;
type Overridden = z.infer<typeof override>["composer"];

export function parseManifest(data: unknown, source: string): ScreenManifest {
  return accept(manifest, data, source);
}

/** The built-in manifest with a user's file laid over it. */
export function overrideManifest(base: ScreenManifest, data: unknown, source: string): ScreenManifest {
  const over = accept(override, data, source);
  if (over.provider !== base.provider)
    throw invalid(source, "provider", `these rules are for "${over.provider}", not for "${base.provider}"`);
  const names = new Set(base.rules.map((known) => known.name));
  const unknown = over.without.find((name) => !names.has(name));
  if (unknown !== undefined) throw invalid(source, "without", `there is no rule "${unknown}"`);
  const replaced = new Map(over.rules.map((own) => [own.name, own]));
  return {
    ...base,
    ...composerOf(base, over.composer),
    rules: [
      ...over.rules.filter((own) => !names.has(own.name)),
      ...base.rules
        .filter((known) => !over.without.includes(known.name))
        .map((known) => replaced.get(known.name) ?? known),
    ],
  };
}

function composerOf(base: ScreenManifest, changes: Overridden | undefined): { composer?: ComposerSpec } {
  if (!changes) return {};
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  return { composer: { footer: 0, prompt: /^/u, ...base.composer, ...given } };
}

function accept<T>(schema: z.ZodType<T>, data: unknown, source: string): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = [...(issue?.path ?? []), ...(issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [])];
  throw invalid(source, path.join("."), issue?.message ?? "invalid");
}

function invalid(source: string, field: string, message: string): TielineError {
  return new TielineError("CONFIG_INVALID", `${source}: ${field}: ${message}`, {
    remedy: "correct the field; docs/screens.md lists what a screen manifest may hold",
    operands: { source, field },
  });
}
