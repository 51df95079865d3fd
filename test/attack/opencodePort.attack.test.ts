/**
 * Another user that listens at the port which was chosen for an opencode: it gets neither the password nor a message.
 */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OpencodeSessions, opencodeServerEndpoint } from "../../src/providers/opencode/sessions.ts";
import { opencodeServer } from "../../src/providers/opencode/server.ts";
import { anAgent } from "../../src/testing/agents.ts";
import { describeUnless, lackOfLinux, lackUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser } from "../../src/testing/otherUser.ts";
import { until } from "../../src/testing/until.ts";

const lackOfPerl = lackUnless(Bun.which("perl") !== null, "the other user's server is written in Perl");

/** Answers everything as an opencode would, and writes down what it is sent. */
const squatter = `
use strict; use IO::Socket::INET; $| = 1;
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1:0", Listen => 50) or die "cannot listen: $!";
open(my $log, ">", "$ARGV[0].heard"); $log->autoflush(1);
open(my $port, ">", "$ARGV[0].draft"); print $port $server->sockport; close $port;
rename "$ARGV[0].draft", "$ARGV[0].port";
while (my $peer = $server->accept) {
  my $text = ""; while (sysread $peer, my $piece, 65536) { $text .= $piece; last if $text =~ /\\r\\n\\r\\n/; }
  print $log "connection: $text\\n";
  print $peer "HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n";
  print $peer "Connection: close\\r\\n\\r\\n{}"; close $peer;
}`;

describeUnless(lackOfOtherUser() ?? lackOfPerl ?? lackOfLinux)(
  "a program of another user at the port of an opencode",
  () => {
    test("is never connected to, whatever is asked of the server", async () => {
      await using other = createOtherUser();
      const file = join(other.dir, "squatter");
      writeFileSync(`${file}.pl`, squatter);
      const child = other.start(["perl", `${file}.pl`, file]);
      await until(
        () => existsSync(`${file}.port`),
        async () => `the squatter to listen: ${await new Response(child.stderr).text()}`,
      );
      const address = { port: Number(readFileSync(`${file}.port`, "utf8")), password: "opencode-secret" };

      const server = opencodeServer(address);
      const refusal = { code: "DELIVERY_FAILED", message: expect.stringContaining("another user") };
      await expect(server.request("GET", "/session/status")).rejects.toMatchObject(refusal);
      await expect(server.request("POST", "/session", { body: { text: "private" } })).rejects.toMatchObject(refusal);
      await expect(server.events(AbortSignal.timeout(20_000)).next()).rejects.toMatchObject(refusal);

      await using sessions = new OpencodeSessions({ report: () => undefined });
      const agent = anAgent({ name: "ana", provider: "opencode", endpoints: [opencodeServerEndpoint(address)] });
      await expect(sessions.ask(agent)).rejects.toMatchObject(refusal);
      await expect(sessions.request(agent, "POST", "/session", { body: {} })).rejects.toMatchObject(refusal);
      await sessions.ask(agent).catch(() => undefined);

      // It does answer: one that does not check is heard.
      await fetch(`http://127.0.0.1:${address.port}/`, { headers: { "x-check": "control" } });
      await until(
        () => readFileSync(`${file}.heard`, "utf8").includes("control"),
        () => "the squatter to write down the control request",
      );
      expect(readFileSync(`${file}.heard`, "utf8").match(/connection:/g)).toHaveLength(1);
      expect(readFileSync(`${file}.heard`, "utf8")).not.toMatch(/authorization|private/i);
    });
  },
);
