import type { Profile } from "../model/profile.ts";

export function aProfile(fields: Partial<Profile> & { readonly name: string }): Profile {
  return {
    origin: "project",
    source: "tieline.yaml",
    description: null,
    provider: "generic",
    command: ["true"],
    args: [],
    role: null,
    cwd: null,
    prompt: null,
    model: null,
    skill: null,
    env: {},
    workspace: null,
    sandbox: "none",
    sandboxCommand: null,
    network: true,
    permissions: "ask",
    may: [],
    logs: [],
    promptPattern: null,
    bracketedPaste: null,
    pasteLimit: null,
    echo: null,
    copyMode: null,
    readable: [],
    input: "terminal",
    autostart: true,
    ...fields,
  };
}
