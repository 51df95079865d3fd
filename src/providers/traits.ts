import type { Escaped } from "../model/envelope.ts";

/** How a program takes text at its terminal. Data per provider; a profile may say otherwise for its own program. */
export interface TerminalTraits {
  /**
   * Whether it takes a paste of several lines as one input; null: find out. `always`: also before it has asked for
   * that.
   */
  readonly bracketedPaste: boolean | "always" | null;
  /** Bytes that are pasted whole; above it a doorbell goes. */
  readonly pasteLimit: number;
  /**
   * Characters above which a paste shows as a mark of its size, in a program that takes blanks off the end of what it
   * is given; null: there is no such mark, or no such number.
   */
  readonly collapsesAbove: number | null;
  /** Whether invisible and bidirectional marks upset its composer. */
  readonly stripInvisible: boolean;
  readonly escaped: Escaped | null;
  /** Whether its composer writes four blanks for a tab. */
  readonly expandsTabs: boolean;
  /** How long Enter must stay away from a paste, from when that shows. */
  readonly enterGapMs: number;
  /** For how long a picture may be half drawn, so that what is missing in it says nothing. */
  readonly redrawMs: number;
  /** How long after Enter its prompt may still look free although it has begun. */
  readonly turnStartMs: number;
  /** False: typed text does not show, so it cannot be checked before Enter. */
  readonly echo: boolean;
  /** In copy mode: wait, or end copy mode once no client shows the pane. */
  readonly copyMode: "hold" | "leave";
  /** Idle only after this much silence; 0 where the screen shows it. */
  readonly quietMs: number;
  /** A shell runs what it is given, so its messages are wrapped in a command that does nothing. */
  readonly shell: boolean;
  /** An interpreter runs what it is given, so its messages are comments. */
  readonly interpreter: boolean;
  /**
   * Whether what would act on text is looked for before anything is typed; not where the screen tells that an agent
   * reads it.
   */
  readonly mayAct: boolean;
  /**
   * The user named the program: where it shows a prompt of its own, a shell on a terminal that it made is its own
   * affair.
   */
  readonly trusted: boolean;
  /**
   * What stood on the cursor's line when the program was first seen at rest; more than that is a user's draft.
   * null: the screen rules find the composer.
   */
  readonly restingLine: string | null;
  /** What the last line looks like when the program waits for input; null: the screen rules know. */
  readonly prompt: string | null;
}

const program: TerminalTraits = {
  bracketedPaste: true,
  pasteLimit: 64 * 1024,
  collapsesAbove: null,
  stripInvisible: false,
  expandsTabs: false,
  escaped: null,
  enterGapMs: 0,
  redrawMs: 0,
  turnStartMs: 0,
  echo: true,
  copyMode: "leave",
  quietMs: 0,
  shell: false,
  interpreter: false,
  mayAct: false,
  trusted: false,
  restingLine: null,
  prompt: null,
};

export interface HomeTraits {
  readonly copyMode?: "hold" | "leave";
  /** How long programs that can only be judged by their silence must be silent. */
  readonly quietMs?: number;
}

/** What a program's provider says, below the settings of the home and those of its profile. */
export function terminalTraits(
  provider: Partial<TerminalTraits>,
  profile: Partial<TerminalTraits> = {},
  home: HomeTraits = {},
): TerminalTraits {
  const own = { ...program, ...provider };
  const copyMode = home.copyMode ?? own.copyMode;
  const quietMs = own.quietMs === 0 ? 0 : (home.quietMs ?? own.quietMs);
  return { ...own, copyMode, quietMs, ...profile };
}
