/** Floods of the loopback port by another user: connections, requests, bodies. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client } from "../../src/client/client.ts";
import { homeOf, type Home } from "../../src/client/home.ts";
import { callerOf } from "../../src/cli/daemon/connect.ts";
import { describeUnless, lackUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser, type OtherUser } from "../../src/testing/otherUser.ts";
import { registerReader } from "../../src/testing/reader.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";
import { residentMb } from "./portWorld.ts";

const lackOfPerl = lackUnless(
  Bun.which("perl") !== null && Bun.which("prlimit") !== null,
  "the flood is written in Perl, and prlimit limits the daemon",
);
const launcher = new URL("../../bin/tieline", import.meta.url).pathname;
const descriptors = 1_024;

/** Keeps so many connections open: silent ones, half a header, half a body. Says how many it has opened and lost. */
const hold = `
use strict; use IO::Socket::INET; use IO::Select;
my ($port, $count) = @ARGV; my (%held, $opened, $lost); $| = 1; $SIG{PIPE} = 'IGNORE';
my $host = "Host: 127.0.0.1\\r\\n";
my $post = "POST /v1/send HTTP/1.1\\r\\n" . $host . "Authorization: Bearer x\\r\\nContent-Length: 100000\\r\\n\\r\\n{";
my @half = ("", "GET / HTTP/1.1\\r\\n" . $host, $post);
my $select = IO::Select->new;
while (1) {
  for (1 .. 100) {
    last if keys %held >= $count;
    my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or last;
    my $text = $half[$opened++ % 3]; syswrite $socket, $text if $text;
    $held{fileno $socket} = $socket; $select->add($socket);
  }
  for my $socket ($select->can_read(0.02)) {
    next if sysread $socket, my $text, 4096;
    $select->remove($socket); delete $held{fileno $socket}; close $socket; $lost++;
  }
  print "$opened $lost\\n";
}`;

/** Sends a request again and again, each on a connection of its own. */
const repeat = `
use strict; use IO::Socket::INET;
my ($port, $count, $request) = @ARGV; my %answers; $SIG{PIPE} = 'IGNORE';
$request =~ s/\\\\r\\\\n/\\r\\n/g;
for (1 .. $count) {
  my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or next;
  syswrite $socket, $request; my $answer = ""; sysread $socket, $answer, 4096;
  $answers{substr $answer, 9, 3}++; close $socket;
}
print join(" ", map { "$_:$answers{$_}" } sort keys %answers), "\\n";`;

/** Sends a body of so many megabytes, as far as it is taken. */
const pour = `
use strict; use IO::Socket::INET;
my ($port, $head, $megabytes) = @ARGV; my $sent = 0; $SIG{PIPE} = 'IGNORE';
$head =~ s/\\\\r\\\\n/\\r\\n/g;
my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die; syswrite $socket, $head;
my $piece = "x" x 1_000_000; while ($sent < $megabytes) { last unless syswrite $socket, $piece; $sent++; }
print "$sent\\n";`;

const spread = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b);
  return `median ${sorted[sorted.length >> 1]!.toFixed(1)} ms, longest ${sorted.at(-1)!.toFixed(1)} ms`;
};

describeUnless(lackOfOtherUser() ?? lackOfPerl)("another user that floods the port", () => {
  let world: World;
  let other: OtherUser;
  let home: Home;
  let user: Client;
  let pid: number;
  let port: string;
  beforeAll(async () => {
    world = await startWorld();
    other = createOtherUser();
    for (const [name, text] of Object.entries({ hold, repeat, pour }))
      writeFileSync(join(other.dir, `${name}.pl`), text);
    home = homeOf(world.env);
    const started = Bun.spawn(["prlimit", `--nofile=${descriptors}:${descriptors}`, launcher, "daemon", "start"], {
      cwd: world.project,
      env: world.env,
      stdout: "ignore",
    });
    expect(await started.exited).toBe(0);
    pid = await world.daemonPid();
    port = readFileSync(home.portFile, "utf8").trim();
    user = createClient({ socket: home.socket }, { ...(await callerOf(home, world.env)), cwd: world.project });
    await registerReader("ana", world.env);
  });
  afterAll(async () => {
    await other[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  const perl = async (name: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await other.run(["perl", join(other.dir, `${name}.pl`), port, ...args], {
      timeoutMs: 120_000,
    });
    if (code !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  const onPort = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${readFileSync(home.userToken, "utf8").trim()}`, connection: "close" },
    });
  const logBytes = (): number =>
    readdirSync(home.root)
      .filter((name) => name.startsWith("daemon.log"))
      .reduce((sum, name) => sum + statSync(join(home.root, name)).size, 0);

  test("1,500 silent and half-open connections starve neither the socket nor the port", async () => {
    const flood = other.start(["perl", join(other.dir, "hold.pl"), port, "1500"]);
    const counts = { opened: 0, lost: 0 };
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of flood.stdout)
        [counts.opened = 0, counts.lost = 0] = decoder.decode(chunk).trim().split("\n").at(-1)!.split(" ").map(Number);
    })();
    await until(() => counts.opened > 1_500, "the flood");
    const times: { sendMs: number[]; portMs: number[] } = { sendMs: [], portMs: [] };
    let fds = 0;
    for (let round = 0; round < 40; round++) {
      const from = performance.now();
      await user.call("send", { to: "ana", body: `during the flood ${round}` });
      const sent = performance.now();
      expect((await onPort("/v1/whoami")).status).toBe(200);
      times.sendMs.push(sent - from);
      times.portMs.push(performance.now() - sent);
      fds = Math.max(fds, readdirSync(`/proc/${pid}/fd`).length);
    }
    expect((await world.tieline(["ls"])).code).toBe(0);
    console.log(
      `flood: ${counts.opened} connections opened, ${counts.lost} closed by the daemon, at most ${fds} ` +
        `descriptors; send ${spread(times.sendMs)}, port ${spread(times.portMs)}`,
    );
    expect(fds).toBeLessThan(400);
    flood.kill("SIGKILL");
    await reading;
  });

  describe("requests that make no sense", () => {
    test.each([
      ["a malformed Host", `GET /${"A".repeat(2_000)} HTTP/1.1\\r\\nHost: a b\\r\\n\\r\\n`],
      ["no Host", `GET /${"A".repeat(2_000)} HTTP/1.0\\r\\n\\r\\n`],
      ["no HTTP", `${"A".repeat(2_000)}\\r\\n\\r\\n`],
      ["another server's address", "GET http://[/ HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n"],
    ])("4,000 with %s are refused, and write nothing into the log", async (_, request) => {
      const before = logBytes();
      expect(await perl("repeat", "4000", request)).toBe("400:4000");
      expect(logBytes() - before).toBeLessThan(2_000);
    });

    test("4,000 calls of operations without a token write nothing into the log", async () => {
      const before = logBytes();
      expect(
        await perl(
          "repeat",
          "4000",
          "POST /v1/send HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nAuthorization: Bearer x\\r\\nContent-Length: " +
            "1\\r\\n\\r\\n{",
        ),
      ).toBe("401:4000");
      expect(logBytes() - before).toBeLessThan(2_000);
    });
  });

  test.each([
    ["hooks", "POST /hooks/x HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Length: 1500000000\\r\\n\\r\\n"],
    [
      "an operation",
      "POST /v1/send HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nAuthorization: Bearer x\\r\\nContent-Length: " +
        "1500000000\\r\\n\\r\\n",
    ],
    [
      "MCP, in pieces",
      "POST /mcp HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nAuthorization: Bearer x\\r\\nTransfer-Encoding: " +
        "chunked\\r\\n\\r\\n59682F00\\r\\n",
    ],
    [
      "the dashboard's sign-in",
      "POST /page/signIn HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n59682F00\\r\\n",
    ],
  ])("1.5 GB for %s are not taken in", async (_, head) => {
    const before = residentMb(pid);
    const taken = Number(await perl("pour", head, "1500"));
    expect(taken).toBeLessThan(100);
    expect(residentMb(pid) - before).toBeLessThan(60);
    expect((await onPort("/v1/whoami")).status).toBe(200);
  });

  test("an agent's long input is refused in a few words", async () => {
    const { token } = await registerReader("eve", world.env);
    const ask = async (body: string): Promise<{ status: number; length: number }> => {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/collected`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body,
      });
      return { status: answer.status, length: (await answer.text()).length };
    };
    const long = await ask(JSON.stringify({ deliveries: Array.from({ length: 1_000_000 }, () => "x") }));
    expect(long.status).toBe(413);
    const many = await ask(JSON.stringify({ deliveries: Array.from({ length: 50_000 }, () => "x") }));
    expect(many.status).toBe(400);
    expect(Math.max(long.length, many.length)).toBeLessThan(2_500);
  });
});
