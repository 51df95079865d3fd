import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { lackUnless, describeUnless } from "../src/testing/needing.ts";
import { linkIn } from "../src/client/pageProtocol.ts";
import { pageAt } from "../src/testing/pageSession.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** How `tieline dash` gives its link to a browser, with programs that stand in for those of a desktop. */
describeUnless(lackUnless(process.platform === "linux", "the programs of a Linux desktop are played here"))(
  "the link of `tieline dash`",
  () => {
    let world: World;
    let desktop: string;
    let opened: string;
    beforeAll(async () => {
      world = await startWorld();
      desktop = join(world.dir, "desktop");
      opened = join(world.dir, "opened");
      mkdirSync(desktop);
      script("xdg-open", `printf %s "$*" >"${opened}.new"; mv "${opened}.new" "${opened}"`);
    });
    afterAll(() => world[Symbol.asyncDispose]());

    const script = (name: string, text: string): void =>
      writeFileSync(join(desktop, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const home = (): string => world.env["TIELINE_HOME"]!;

    async function dash(
      env: Record<string, string>,
      ...flags: string[]
    ): Promise<{ link: string; file: string | null }> {
      rmSync(opened, { force: true });
      const { stdout, code, stderr } = await world.tieline(["dash", ...flags], {
        env: { PATH: `${desktop}:${world.env["PATH"]}`, ...env },
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      if (env["DISPLAY"] === undefined || flags.length > 0) return { link: stdout.trim(), file: null };
      await until(() => existsSync(opened), "the browser to be opened");
      return { link: stdout.trim(), file: readFileSync(opened, "utf8") };
    }

    test("is printed, and given to the browser in a private file that goes when the link was used", async () => {
      const { link, file } = await dash({ DISPLAY: ":1" });
      expect(link).toMatch(/^http:\/\/tieline-[0-9a-f]{20}\.localhost:\d+\/#sign-in\/[\w-]+\/[\w-]{43}\/[\w-]{43}$/);
      expect(dirname(file!)).toBe(join(home(), "page"));
      expect(statSync(file!).mode & 0o777).toBe(0o600);
      expect(readFileSync(file!, "utf8")).toContain(link);
      await pageAt(new URL(link).origin).session.signIn(linkIn(new URL(link).hash)!);
      expect(existsSync(file!)).toBe(false);
    });

    test("is only printed where there is no desktop, or when no browser is wanted", async () => {
      for (const { link, file } of [
        await dash({}),
        await dash({ DISPLAY: ":1" }, "--no-open"),
        await dash({ DISPLAY: ":1" }, "--no-open", "--ip"),
      ]) {
        expect(link).toStartWith("http://");
        expect(file).toBeNull();
        expect(existsSync(opened)).toBe(false);
      }
    });

    test("leads to 127.0.0.1 where names below localhost are not found", async () => {
      const { link } = await dash({}, "--ip");
      expect(link).toStartWith("http://127.0.0.1:");
      await pageAt(new URL(link).origin).session.signIn(linkIn(new URL(link).hash)!);
    });

    test("goes through a directory that a browser in a snap can read", async () => {
      const common = join(world.dir, "snap", "firefox", "common");
      mkdirSync(common, { recursive: true });
      script("xdg-settings", `[ "$*" = "get default-web-browser" ] && echo firefox_firefox.desktop`);
      const { file } = await dash({ DISPLAY: ":1" });
      expect(dirname(file!)).toBe(common);
      script("xdg-settings", "echo firefox.desktop");
      expect(dirname((await dash({ DISPLAY: ":1" })).file!)).toBe(join(home(), "page"));
    });

    test("takes its files along when the daemon stops", async () => {
      const { file } = await dash({ DISPLAY: ":1" });
      expect(existsSync(file!)).toBe(true);
      await world.tieline(["daemon", "stop"]);
      await until(() => !existsSync(file!), "the file to be removed");
      const { file: left } = await dash({ DISPLAY: ":1" });
      await world.killDaemon();
      expect(existsSync(left!)).toBe(true);
      await world.json(["daemon", "start"]);
      expect(existsSync(left!)).toBe(false);
    });
  },
);
