/**
 * What the dashboard remembers for the user: theme, filters, what was read, a draft. It is kept here because the page
 * has a new origin, with an empty storage, after every restart of the daemon.
 */
import { z } from "zod";
import { TielineError } from "../../model/errors.ts";
import { atomicWrite } from "../../os/atomicWrite.ts";
import { untrustedText } from "../../os/untrustedFile.ts";

const Stored = z.record(z.string(), z.json());
export type PreferenceValues = z.infer<typeof Stored>;

const maxBytes = 2 * 1024 * 1024;
const mostKeys = 64;

export interface Preferences {
  read(): PreferenceValues;
  /** null removes a key. Answers how many bytes are stored. */
  set(values: PreferenceValues): number;
}

export function preferencesIn(file: string, report: (context: string, fault: unknown) => void): Preferences {
  const read = (): PreferenceValues => {
    try {
      const text = untrustedText(file, { maxBytes });
      return text === null ? {} : Stored.parse(JSON.parse(text));
    } catch (thrown) {
      // Preferences can be lost without harm; the next change replaces the file.
      report(file, thrown);
      return {};
    }
  };

  return {
    read,
    set(values) {
      const kept = Object.fromEntries(Object.entries({ ...read(), ...values }).filter(([, value]) => value !== null));
      const text = `${JSON.stringify(kept)}\n`;
      if (Buffer.byteLength(text) > maxBytes || Object.keys(kept).length > mostKeys) throw tooMuch();
      atomicWrite(file, text);
      return Buffer.byteLength(text);
    },
  };
}

const tooMuch = (): TielineError =>
  new TielineError("BODY_TOO_LONG", `preferences take more than ${maxBytes} bytes or ${mostKeys} keys`, {
    remedy: "store less",
    operands: { maxBytes, mostKeys },
  });
