import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  lstatSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../testing/commandLine.ts";
import { privateTmux } from "../../testing/tmux.ts";

const read = (path: string): string => readFileSync(path, "latin1");

describe("tieline shortcuts", () => {
  const contents = {
    "a file with lines": "set -g mouse on\n\nbind x kill-pane\n",
    "a last line without an end": "set -g mouse on\nbind x kill-pane",
    "an empty file": "",
    "bytes that are easily lost": "# ä\t \r\nset -g status-left '>>> tieline'\n\n\n",
  };
  for (const [what, text] of Object.entries(contents)) {
    test(`${what}: installed twice it is there once, and uninstalled it is byte for byte as before`, async () => {
      using tieline = commandLine();
      const conf = join(tieline.dir, ".tmux.conf");
      writeFileSync(conf, text, "latin1");
      chmodSync(conf, 0o640);
      expect((await tieline.run(["shortcuts", "install"])).code).toBe(0);
      const installed = read(conf);
      expect(installed.startsWith(text)).toBe(true);
      expect(installed.match(/^bind-key G display-popup /gm)).toHaveLength(1);
      expect(installed.match(/^bind-key g display-popup /gm)).toHaveLength(1);
      expect((await tieline.run(["shortcuts", "install"])).stdout).toContain("unchanged");
      expect(read(conf)).toBe(installed);
      expect((await tieline.run(["shortcuts", "uninstall"])).code).toBe(0);
      expect(read(conf)).toBe(text);
      expect(statSync(conf).mode & 0o777).toBe(0o640);
    });
  }

  test("lines that came after the block stay", async () => {
    using tieline = commandLine();
    const conf = join(tieline.dir, ".tmux.conf");
    writeFileSync(conf, "one\n");
    await tieline.run(["shortcuts", "install"]);
    writeFileSync(conf, `${read(conf)}two\n`);
    await tieline.run(["shortcuts", "uninstall"]);
    expect(read(conf)).toBe("one\ntwo\n");
  });

  test("without a tmux.conf one is made, and goes away again", async () => {
    using tieline = commandLine();
    await tieline.run(["shortcuts", "install"]);
    expect(existsSync(join(tieline.dir, ".tmux.conf"))).toBe(true);
    await tieline.run(["shortcuts", "uninstall"]);
    expect(existsSync(join(tieline.dir, ".tmux.conf"))).toBe(false);
  });

  test("the XDG place is used where it is the one in use, and a link stays a link", async () => {
    using tieline = commandLine();
    mkdirSync(join(tieline.dir, ".config/tmux"), { recursive: true });
    const real = join(tieline.dir, "dotfiles.conf");
    const conf = join(tieline.dir, ".config/tmux/tmux.conf");
    writeFileSync(real, "set -g mouse on\n");
    symlinkSync(real, conf);
    await tieline.run(["shortcuts", "install"]);
    expect(read(real)).toContain("bind-key G");
    expect(lstatSync(conf).isSymbolicLink()).toBe(true);
    expect(existsSync(join(tieline.dir, ".tmux.conf"))).toBe(false);
    await tieline.run(["shortcuts", "uninstall"]);
    expect(read(real)).toBe("set -g mouse on\n");
  });

  test("an alias on request, in the file of the shell in use, and out again", async () => {
    using tieline = commandLine();
    const rc = join(tieline.dir, ".zshrc");
    writeFileSync(rc, "export A=1");
    await tieline.run(["shortcuts", "install", "--alias", "tl"], { env: { SHELL: "/bin/zsh" } });
    expect(read(rc)).toMatch(/^export A=1\n# >>> tieline >>>.*\nalias tl=\S.*\n# <<< tieline <<<\n$/);
    await tieline.run(["shortcuts", "uninstall"]);
    expect(read(rc)).toBe("export A=1");
    expect((await tieline.run(["shortcuts", "install", "--alias", "rm -rf"])).code).toBe(2);
  });

  test("tmux takes the lines, and binds both keys", async () => {
    using tieline = commandLine();
    await using server = await privateTmux();
    await tieline.run(["shortcuts", "install"]);
    await server.tmux("source-file", join(tieline.dir, ".tmux.conf"));
    const keys = await server.tmux("list-keys", "-T", "prefix");
    expect(keys).toMatch(/ G +display-popup -E .*tieline/);
    expect(keys).toMatch(/ g +display-popup .*tieline.* ls --all/);
  });

  test("setup --shortcuts does the same, and show changes nothing", async () => {
    using tieline = commandLine();
    expect((await tieline.run(["shortcuts", "show"])).stdout).toContain("(not installed)");
    expect(existsSync(join(tieline.dir, ".tmux.conf"))).toBe(false);
    expect((await tieline.run(["setup", "--shortcuts"])).code).toBe(0);
    expect(read(join(tieline.dir, ".tmux.conf"))).toContain("bind-key G");
    expect((await tieline.run(["setup", "--shortcuts", "--undo"])).code).toBe(0);
    expect(existsSync(join(tieline.dir, ".tmux.conf"))).toBe(false);
  });
});
