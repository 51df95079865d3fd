import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Projects } from "../../config/projects.ts";
import { memoryDocuments } from "../directory/documents/memory.ts";
import type { Documents } from "../directory/documents/port.ts";
import { Profiles } from "../profiles/profiles.ts";
import { Trust, changesIn } from "./trust.ts";
import { difference, linesOf } from "./powerLines.ts";
import { providers } from "../../compose/providers.ts";

let root: string;
let home: string;
let documents: Documents;
beforeEach(() => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "tl-trust-")));
  root = join(top, "project");
  home = join(top, "home");
  for (const directory of [root, join(home, "agents")]) mkdirSync(directory, { recursive: true });
  documents = memoryDocuments();
});
afterEach(() => rmSync(dirname(root), { recursive: true, force: true }));

function open(path = "/usr/bin:/bin"): Trust {
  const projects = new Projects();
  return new Trust({
    providers,
    documents,
    profiles: new Profiles(join(home, "agents")),
    projectOf: () => projects.load(join(root, "tieline.yaml")),
    path,
    binDirectory: "/nowhere",
  });
}

function put(name: string, text: string, directory = root): string {
  const file = join(directory, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

/** The user looks and says yes. */
function trusted(yaml: string): Trust {
  put("tieline.yaml", yaml);
  const trust = open();
  trust.grant(root, trust.inspect(root).digest);
  expect(trust.inspect(root).state).toBe("trusted");
  return trust;
}

const base = `team: web
agents:
  coder: { command: [cat], args: [-u], description: codes, role: coding }
  lead: { profile: engineer, prompt: be kind, may: [spawn] }
  eager: { permissions: skip, prompt: be quick }
topology: [coder -> lead]
aliases: { all-of-them: [coder, lead] }
objects:
  ledger: { module: ./ledger.ts }
  tick: { options: { intervalMs: 60000 } }
`;

describe("trust", () => {
  beforeEach(() => void put("ledger.ts", "export const onMessage = () => 1;\n"));

  test("nothing is trusted before the user says so", () => {
    put("tieline.yaml", base);
    expect(open().inspect(root).state).toBe("new");
    expect(() => open().profile("web", "coder")).toThrow("is not trusted yet");
  });

  test("is kept, also for the next daemon", () => {
    trusted(base);
    expect(open().inspect(root).state).toBe("trusted");
    expect(open().profile("web", "coder")).toMatchObject({ command: ["/usr/bin/cat"], args: ["-u"] });
  });

  test("belongs to the real path: a copy or a moved project asks again, a link to it does not", () => {
    const trust = trusted(base);
    symlinkSync(root, join(home, "link"));
    expect(trust.inspect(join(home, "link")).state).toBe("trusted");
    renameSync(root, join(home, "moved"));
    expect(trust.inspect(join(home, "moved")).state).toBe("new");
  });

  test.each([
    ["topology", "coder -> lead", "lead -> coder"],
    ["a prompt of an agent that asks", "be kind", "be strict"],
    ["a description", "codes", "codes well"],
    ["a role", "role: coding", "role: typing"],
    ["an alias", "[coder, lead]", "[coder]"],
    ["the team", "team: web", "team: shop"],
  ])("a change of %s does not ask again", (_, before, after) => {
    const trust = trusted(base);
    put("tieline.yaml", base.replace(before, after));
    expect(trust.inspect(root).state).toBe("trusted");
  });

  test.each([
    [
      "the agents",
      "agents:\n",
      "agents:\n  another: { profile: engineer, prompt: hello }\n",
      ["+ agent another  claude-code, which asks before it acts"],
    ],
    ["a command", "[cat]", "[tac]", ["- agent coder  command: /usr/bin/cat", "+ agent coder  command: /usr/bin/tac"]],
    ["arguments", "[-u]", "[-v]", ["- agent coder  args: -u", "+ agent coder  args: -v"]],
    ["`may`", "may: [spawn]", "may: [spawn, kill]", ["- agent lead  may: spawn", "+ agent lead  may: spawn kill"]],
    [
      "the permission mode",
      "permissions: skip",
      "permissions: auto",
      ["- agent eager  permissions: skip", "+ agent eager  permissions: auto"],
    ],
    [
      "a prompt of an agent that acts without asking",
      "be quick",
      "rm -rf /",
      ["- agent eager  prompt: be quick", "+ agent eager  prompt: rm -rf /"],
    ],
    [
      "the provider",
      "profile: engineer,",
      "profile: engineer, provider: codex,",
      ["- agent lead  claude-code, which asks before it acts", "+ agent lead  codex, which asks before it acts"],
    ],
    ["the environment", "role: coding", "env: { LD_PRELOAD: /x }", ['+ agent coder  env: LD_PRELOAD="/x"']],
    ["headless", "role: coding", "headless: true", ["+ agent coder  headless: true"]],
    ["the directory", "role: coding", "cwd: /etc", ["+ agent coder  cwd: /etc"]],
    [
      "the workspace and the sandbox",
      "role: coding",
      "workspace: /w, sandbox: bwrap, readable: /home",
      [
        "+ agent coder  workspace: /w",
        "+ agent coder  sandbox: bwrap",
        expect.stringContaining("network"),
        "+ agent coder  readable: /home",
      ],
    ],
    ["the logs that are read", "role: coding", "logs: /var/log/x", ["+ agent coder  logs: /var/log/x"]],
    ["whether mail starts it", "role: coding", "autostart: false", ["+ agent coder  autostart: false"]],
    [
      "an object's options",
      "60000",
      "50000",
      ['- object tick  options: {"intervalMs":60000}', '+ object tick  options: {"intervalMs":50000}'],
    ],
    [
      "a gateway",
      "objects:\n",
      'objects:\n  gateway: { options: { secret: "0123456789abcdef", port: 4711 } }\n',
      ['+ object gateway  options: {"secret":"0123456789abcdef","port":4711}'],
    ],
  ] as [string, string, string, unknown[]][])(
    "a change of %s asks again and shows the difference",
    (_, before, after, shown) => {
      const trust = trusted(base);
      put("tieline.yaml", base.replace(before, after));
      const inspection = trust.inspect(root);
      expect(inspection.state).toBe("changed");
      expect(changesIn(inspection).map(({ sign, text }) => `${sign} ${text}`)).toEqual(shown as string[]);
      expect(() => trust.profile("web", "coder")).toThrow("has changed since it was trusted");
      put("tieline.yaml", base);
      expect(trust.inspect(root).state).toBe("trusted");
    },
  );

  test("the code of a module counts, and the code that was judged is what is used", () => {
    const trust = trusted(base);
    expect(trust.objectsOf(root).modules.get("ledger")).toEqual({
      path: join(root, "ledger.ts"),
      text: "export const onMessage = () => 1;\n",
    });
    put("ledger.ts", "export const onMessage = () => 2;\n");
    expect(trust.inspect(root).state).toBe("changed");
    expect(() => trust.objectsOf(root)).toThrow("has changed since it was trusted");
  });

  test("profile files count, whether tieline.yaml names them or not", () => {
    const trust = trusted(base);
    put(".tieline/agents/evil.md", "---\ncommand: [sh, -c, id]\n---\n");
    expect(changesIn(trust.inspect(root)).map(({ text }) => text)).toEqual([
      "agent evil  provider: generic",
      "agent evil  command: /usr/bin/sh -c id",
    ]);
    rmSync(join(root, ".tieline"), { recursive: true });
    put(".tieline/agents/lead.md", "---\ndescription: leads\n---\n");
    expect(trust.inspect(root).state).toBe("trusted");
    // What it refines is part of what is started.
    put(".tieline/agents/engineer.md", "---\npermissions: skip\n---\n");
    expect(trust.inspect(root).state).toBe("changed");
  });

  test("a program is trusted by its absolute path", () => {
    const bin = join(home, "bin");
    put("bot", "#!/bin/sh\n", bin);
    chmodSync(join(bin, "bot"), 0o755);
    put("tieline.yaml", "agents:\n  bot: { command: [bot] }\n  own: { command: [./bot.sh, x] }\n");
    const trust = open(`.:${bin}:/usr/bin`);
    expect(linesOf(trust.inspect(root).powers)).toContain(`agent bot  command: ${join(bin, "bot")}`);
    trust.grant(root, trust.inspect(root).digest);
    expect(trust.profile("web", "bot")?.command).toEqual([join(bin, "bot")]);
    // Another file of that name further ahead is another program, and one that appears is, too.
    expect(open("/elsewhere:/usr/bin").inspect(root).state).toBe("changed");
    put("bot.sh", "#!/bin/sh\n");
    chmodSync(join(root, "bot.sh"), 0o755);
    expect(changesIn(trust.inspect(root)).map(({ text }) => text)).toEqual([
      "agent own  command: ./bot.sh x",
      `agent own  command: ${join(root, "bot.sh")} x`,
    ]);
  });

  describe("with a sandboxed agent whose workspace is the project", () => {
    const boxed = "team: web\nagents:\n  boxed: { command: [sh, own.sh], workspace: ., sandbox: bwrap }\n";
    const program = (name: string, text = "#!/bin/sh\n"): void => chmodSync(put(name, text), 0o755);

    test.each<[what: string, agent: () => string, file: string]>([
      ["a script in the command", () => "command: [sh, x]", "x"],
      ["a script in a line for the shell", () => "command: [sh, -c, 'cd .; sh ./x']", "x"],
      ["a script in the arguments", () => "command: [sh], args: [x]", "x"],
      ["a script in an option", () => "command: [node, --require=./x]", "x"],
      ["a wrapper", () => "command: [cat], sandbox: command, sandboxCommand: [./x]", "x"],
      ["a program in its PATH", () => `command: [bot], env: { PATH: '${root}/bin:/bin' }`, "bin/bot"],
      ["another program in its PATH", () => `command: [cat], env: { PATH: '${root}/bin:/bin' }`, "bin/ls"],
      ["the target of a link", () => "command: [sh, scripts/x]", "tools/x"],
      ["the file in a variable", () => `command: [bash], env: { BASH_ENV: '${root}/x' }`, "x"],
      ["a file in an option in a variable", () => "command: [node], env: { NODE_OPTIONS: '--require ./x' }", "x"],
      ["a file that a #! line names", () => "command: [./tool]", "interpreter"],
      ["the script of an object", () => "command: [cat] }\nobjects:\n  one: { command: [sh, x]", "x"],
    ])("the content of %s counts", (_, agent, file) => {
      for (const name of ["x", "bin/bot", "bin/ls", "tools/x", "interpreter"]) program(name);
      program("tool", `#!${root}/interpreter\n`);
      symlinkSync("tools", join(root, "scripts"));
      const trust = trusted(`${boxed}  x: { ${agent()} }\n`);
      program("own.sh");
      program("unnamed.sh");
      expect(trust.inspect(root).state).toBe("trusted");
      program(file, "#!/bin/sh\nid\n");
      expect(() => trust.demand(root)).toThrow(`${root}/${file.startsWith("bin/") ? "bin" : `${file} changed since`}`);
      expect(changesIn(trust.inspect(root)).map(({ text }) => text)).toContainEqual(
        expect.stringMatching(/files: \S+ (\d+ files, )?sha256 /),
      );
      program(file);
      expect(trust.inspect(root).state).toBe("trusted");
    });

    test("a link that leads elsewhere asks again", () => {
      for (const name of ["tools/x", "other/x"]) program(name);
      symlinkSync("tools", join(root, "scripts"));
      const trust = trusted(`${boxed}  x: { command: [sh, scripts/x] }\n`);
      rmSync(join(root, "scripts"));
      symlinkSync("other", join(root, "scripts"));
      expect(changesIn(trust.inspect(root)).map(({ sign, text }) => `${sign} ${text}`)).toContain(
        `+ agent x  files: ${root}/scripts link to other`,
      );
    });

    test("a named file that is new asks again", () => {
      const trust = trusted(`${boxed}  x: { command: [bash], env: { BASH_ENV: '${root}/x' } }\n`);
      put("x", "id\n");
      expect(() => trust.demand(root)).toThrow(`${root}/x changed since ${root}/tieline.yaml was trusted`);
    });

    test("a file that no sandboxed agent can write may change", () => {
      mkdirSync(join(root, "room"));
      program("x");
      const trust = trusted(`${boxed.replace("workspace: .", "workspace: room")}  x: { command: [sh, x] }\n`);
      program("x", "id\n");
      expect(trust.inspect(root).state).toBe("trusted");
    });

    test("what runs outside is named to sandboxes, with the links that lead to it", () => {
      for (const name of ["tools/x", "bin/bot"]) program(name);
      symlinkSync("tools", join(root, "scripts"));
      const env = `env: { PATH: '${root}/bin:/bin' }`;
      const trust = trusted(`${boxed}  x: { command: [sh, scripts/x] }\n  y: { command: [bot], ${env} }\n`);
      const { decisive, decisiveDirectories } = trust.around([root]);
      for (const name of ["scripts", "tools/x", "bin/bot"]) expect(decisive).toContain(join(root, name));
      expect(decisive).not.toContain(join(root, "own.sh"));
      expect(decisiveDirectories).toContain(join(root, "bin"));
    });
  });

  test("what changes while the user is asked is not trusted", () => {
    put("tieline.yaml", base);
    const trust = open();
    const { digest } = trust.inspect(root);
    put("tieline.yaml", base.replace("[cat]", "[tac]"));
    expect(() => trust.grant(root, digest)).toThrow("changed while you were asked");
  });

  test("an agent that the user adds through Tieline keeps the project trusted, and nothing else does", () => {
    const trust = trusted(base);
    const before = trust.inspect(root);
    put(".tieline/agents/own.md", "---\ncommand: [cat]\n---\n");
    trust.extend(before, "own");
    expect(trust.inspect(root).state).toBe("trusted");
    const again = trust.inspect(root);
    put(".tieline/agents/own.md", "---\ncommand: [tac]\n---\n");
    put("tieline.yaml", base.replace("[cat]", "[tac]"));
    trust.extend(again, "own");
    expect(trust.inspect(root).state).toBe("changed");
  });

  test("files that other users could have written cannot be trusted", () => {
    const trust = trusted(base);
    chmodSync(join(root, "tieline.yaml"), 0o666);
    expect(() => trust.profile("web", "coder")).toThrow(
      `${join(root, "tieline.yaml")} can be written by other users (mode 666), so nothing is started`,
    );
    expect(() => trust.grant(root, trust.inspect(root).digest)).toThrow("can be written by other users");
    chmodSync(join(root, "tieline.yaml"), 0o644);
    put(".tieline/agents/lead.md", "");
    for (const path of [
      join(root, "ledger.ts"),
      join(root, ".tieline/agents"),
      join(root, ".tieline"),
      root,
      dirname(root),
    ]) {
      const mode = path.endsWith(".ts") ? 0o644 : 0o755;
      chmodSync(path, mode | 0o022);
      expect([path, trust.inspect(root).state]).toEqual([path, "exposed"]);
      chmodSync(path, mode);
    }
    expect(trust.inspect(root).state).toBe("trusted");
  });

  test("a profile of the user's own needs no trust, but must be the user's own", () => {
    put("tieline.yaml", "team: web\n");
    const file = put("mine.md", "---\ncommand: [cat]\n---\n", join(home, "agents"));
    expect(open().profile("web", "mine")?.command).toEqual(["cat"]);
    chmodSync(file, 0o646);
    expect(() => open().profile("web", "mine")).toThrow(
      "can be written by other users (mode 646), so mine is not started",
    );
  });

  test("a profile of the user's own that builds on one of the project needs the project's trust", () => {
    put("tieline.yaml", "team: web\nagents:\n  theirs: { command: [cat] }\n");
    put("mine.md", "---\nprofile: theirs\n---\n", join(home, "agents"));
    expect(() => open().profile("web", "mine")).toThrow("is not trusted yet");
  });

  test("a link in the place of a file or of its directory is refused", () => {
    trusted(base);
    put("x.md", "---\ncommand: [cat]\n---\n", home);
    mkdirSync(join(root, ".tieline/agents"), { recursive: true });
    symlinkSync(join(home, "x.md"), join(root, ".tieline/agents/x.md"));
    expect(() => open().inspect(root)).toThrow("is a link");
    rmSync(join(root, ".tieline"), { recursive: true });
    symlinkSync(home, join(root, ".tieline"));
    expect(() => open().inspect(root)).toThrow("is a link or a file, not a directory");
  });
});

test("a difference shows what is gone and what is new, in its place", () => {
  const shown = difference(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]).map(({ sign, text }) => sign + text);
  expect(shown).toEqual(["-b", "+x", "+e"]);
  const long = Array.from({ length: 3_000 }, (_, at) => String(at));
  expect(difference(long, long.slice(1)).length).toBeGreaterThan(0);
});
