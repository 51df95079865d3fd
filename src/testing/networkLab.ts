/**
 * A machine and an internet for tests, as two network namespaces with addresses of their own, so that the real network
 * is neither needed nor touched. Needs root and `ip`.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { lackUnless, type Lack } from "./needing.ts";
import { until } from "./until.ts";

export interface NetworkLab extends AsyncDisposable {
  /** Runs what follows on the machine. */
  readonly onMachine: readonly string[];
  readonly machineAddress: string;
  readonly gatewayAddress: string;
  /** Of a server on the internet that answers "internet" on port 80; `name` leads to it. */
  readonly serverAddress: string;
  readonly serverName: string;
  /** A server on the machine that says this word to everyone who connects. */
  serve(address: string, port: number, word: string): Promise<void>;
}

const canMakeNetworks = (): boolean =>
  process.getuid?.() === 0 && Bun.which("ip") !== null && Bun.spawnSync(["ip", "netns", "list"]).exitCode === 0;
export const lackOfNetworks = (): Lack => lackUnless(canMakeNetworks(), "networks for a test need root and ip");

const machineAddress = "203.0.113.2";
const gatewayAddress = "203.0.113.1";
const serverAddress = "198.51.100.7";
const serverName = "api.example.test";

export async function startNetworkLab(): Promise<NetworkLab> {
  const id = `tl${process.pid.toString(36)}${Math.random().toString(36).slice(2, 6)}`;
  const [machine, internet] = [`${id}m`, `${id}i`];
  const servers: Bun.Subprocess[] = [];
  const resolver = `/etc/netns/${machine}`;
  mkdirSync(resolver, { recursive: true });
  // As on most desktops: the resolver is a program on the machine's own loopback.
  writeFileSync(`${resolver}/resolv.conf`, "nameserver 127.0.0.53\n");
  const lines = [
    `netns add ${machine}`,
    `netns add ${internet}`,
    `link add ${id}0 netns ${machine} type veth peer name ${id}1 netns ${internet}`,
    `-n ${machine} addr add ${machineAddress}/24 dev ${id}0`,
    `-n ${internet} addr add ${gatewayAddress}/24 dev ${id}1`,
    `-n ${internet} addr add ${serverAddress}/32 dev lo`,
    ...[machine, internet].map((name) => `-n ${name} link set lo up`),
    `-n ${machine} link set ${id}0 up`,
    `-n ${internet} link set ${id}1 up`,
    `-n ${machine} route add default via ${gatewayAddress}`,
  ];
  for (const line of lines) command(["ip", ...line.split(" ")]);

  async function start(network: string, program: string): Promise<void> {
    const server = Bun.spawn(["ip", "netns", "exec", network, process.execPath, "-e", program], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
      env: { PATH: process.env["PATH"] ?? "" },
    });
    servers.push(server);
    let said = "";
    void (async () => {
      for await (const chunk of server.stdout) said += new TextDecoder().decode(chunk);
    })();
    await until(() => said.includes("up"), `a server in ${network}`);
  }
  const serve = (network: string, address: string, port: number, word: string): Promise<void> =>
    start(
      network,
      `Bun.listen({ hostname: "${address}", port: ${port}, socket: { open(socket) { ` +
        `socket.end("${word}\\n"); }, data() {} } }); console.log("up")`,
    );

  await serve(internet, serverAddress, 80, "internet");
  await start(machine, nameServer);
  return {
    onMachine: ["ip", "netns", "exec", machine],
    ...{ machineAddress, gatewayAddress, serverAddress, serverName },
    serve: (address, port, word) => serve(machine, address, port, word),
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.kill("SIGKILL");
      await Promise.all(servers.map((server) => server.exited));
      for (const name of [machine, internet]) command(["ip", "netns", "delete", name]);
      rmSync(resolver, { recursive: true, force: true });
    },
  };
}

/** Answers every question for an IPv4 address with the server's. */
const nameServer = `
const answer = (query) => {
  let end = 12;
  while (query[end] !== 0) end += query[end] + 1;
  const isA = query.readUInt16BE(end + 1) === 1;
  const head = Buffer.from([query[0], query[1], 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
  const address = [${serverAddress.split(".").join(", ")}];
  const record = Buffer.from(isA ? [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...address] : []);
  return Buffer.concat([head, query.subarray(12, end + 5), record]);
};
const data = (socket, query, port, address) => void socket.send(answer(query), port, address);
await Bun.udpSocket({ hostname: "127.0.0.53", port: 53, socket: { data } });
console.log("up");
`;

function command(argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv, { stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr.toString().trim()}`);
}
