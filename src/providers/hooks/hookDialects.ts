import { codexDialect } from "../codex/hooks.ts";
import { geminiDialect } from "../gemini/hooks.ts";
import { commonDialect, type HookDialect } from "./hookDialect.ts";

const own: Readonly<Record<string, HookDialect>> = { codex: codexDialect, gemini: geminiDialect };

export const dialectOf = (provider: string): HookDialect => own[provider] ?? commonDialect;

export const commonName = (provider: string, event: string): string => dialectOf(provider).events[event] ?? event;

export function ownName(provider: string, event: string): string {
  return Object.entries(dialectOf(provider).events).find(([, common]) => common === event)?.[0] ?? event;
}

/** What an event is called by any of the programs. */
export const allNames = (event: string): string[] => [
  ...new Set([event, ...Object.keys(own).map((provider) => ownName(provider, event))]),
];
