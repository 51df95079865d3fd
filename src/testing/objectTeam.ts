import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Projects } from "../config/projects.ts";
import { createCourier, type Courier } from "../delivery/courier.ts";
import { Directory } from "../agents/directory/directory.ts";
import { documentMigrations, sqliteDocuments } from "../agents/directory/documents/sqlite.ts";
import { lookupsOver } from "../agents/directory/lookups.ts";
import { Profiles } from "../agents/profiles/profiles.ts";
import { teamsOver } from "../agents/teams.ts";
import { Trust } from "../agents/trust/trust.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { mailboxMigrations } from "../mailbox/sqlite/schema.ts";
import { sqliteStore } from "../mailbox/sqlite/store.ts";
import { userId, type Agent } from "../model/agent.ts";
import type { Delivery } from "../model/delivery.ts";
import { agentId } from "../model/ids.ts";
import type { Draft, Message, Sender } from "../model/message.ts";
import { Objects } from "../objects/objects.ts";
import { createRouter, type Router, type Sent } from "../routing/router.ts";
import { routes } from "../routing/directoryRouting.ts";
import { connect } from "../os/sqlite/connection.ts";
import { objectEndpoint, objectTransport } from "../delivery/transports/object/transport.ts";
import { providers } from "../compose/providers.ts";
import { readEndpoints } from "./agents.ts";

/** A project with objects, and everything behind them but a tmux and a daemon: a real mailbox, router and courier. */
export interface ObjectTeam extends AsyncDisposable {
  readonly root: string;
  readonly directory: Directory;
  readonly mailbox: Mailbox;
  readonly router: Router;
  readonly courier: Courier;
  readonly objects: Objects;
  readonly faults: string[];
  /** Writes tieline.yaml, for team `web`, and lets the objects see it. */
  configure(yaml: string): void;
  file(name: string, text: string): string;
  /** An agent without an endpoint: its mail waits. */
  agent(name: string): Agent;
  send(draft: Draft, from?: Agent): Promise<Sent>;
  /** Resolves with the first delivery of a message that the condition holds for. */
  until(message: Message, holds: (delivery: Delivery) => boolean): Promise<Delivery>;
  /** Messages for an agent, oldest first, once there are so many. */
  inbox(agent: Agent | null, count: number): Promise<Message[]>;
}

const user: Sender = { id: userId, name: "user", team: "web", knownBy: "user" };

/** In a directory that is given, for a second time for instance, everything stays. */
export async function objectTeam(given?: string): Promise<ObjectTeam> {
  const root = given ?? mkdtempSync(join(tmpdir(), "tl-objects-"));
  const path = join(root, "mailbox.db");
  const connection = connect(path, { mailbox: mailboxMigrations, documents: documentMigrations });
  const mailbox = openMailbox(sqliteStore(connection), { maxAttempts: 1 });
  const documents = sqliteDocuments(connection);
  const directory = new Directory(documents, () => undefined, readEndpoints);
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
  const projects = new Projects();
  const profiles = new Profiles(join(root, "agents"));
  const teams = teamsOver(directory, projects, documents);
  const lookups = lookupsOver({
    roster: directory.roster,
    profiles,
    projectOf: teams.projectOf,
    overlayOf: teams.overlayOf,
  });
  const trust = new Trust({
    providers,
    documents,
    profiles,
    projectOf: teams.projectOf,
    path: env.PATH,
    binDirectory: "/nowhere",
  });
  const ways = routes(
    directory,
    lookups,
    () => trust.profiles(),
    () => undefined,
    { isNativeOnly: () => false },
  );
  const router = createRouter({ mailbox, guard: () => ({ hops: 0, refused: [] }), emit: () => undefined, ...ways });
  const faults: string[] = [];
  const report = (context: string, fault: unknown): void =>
    void faults.push(`${context}: ${fault instanceof Error ? fault.message : String(fault)}`);
  const objects = new Objects({
    directory,
    mailbox,
    router,
    documents,
    report,
    projectOf: teams.projectOf,
    trusted: (at) => trust.objectsOf(at),
    env,
    endpoint: objectEndpoint,
    backoffMs: [20],
  });
  const transport = objectTransport(objects);
  const courier = createCourier({
    mailbox,
    report,
    transports: new Map([[transport.name, transport]]),
    agent: (id) => directory.agent(id),
  });
  objects.start();
  await courier.start();

  /** Looks now and after every change. */
  function eventually<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const stop = mailbox.onTransitions(() => check());
      const check = (): void => {
        const found = look();
        if (found === undefined) return;
        stop();
        resolve(found);
      };
      check();
    });
  }

  return {
    root,
    directory,
    mailbox,
    router,
    courier,
    objects,
    faults,
    file(name, text) {
      writeFileSync(join(root, name), text);
      return join(root, name);
    },
    configure(yaml) {
      writeFileSync(join(root, "tieline.yaml"), `team: web\n${yaml}`);
      directory.joinTeam("web", root);
      try {
        trust.grant(root, trust.inspect(root).digest);
      } catch (thrown) {
        report("the user cannot trust it", thrown);
      }
      objects.trustChanged("web");
    },
    agent: (name) =>
      directory.roster.named("web", name) ?? directory.register({ name, team: "web", provider: "generic" }),
    send: (draft, from) =>
      router.send(draft, from ? { id: from.id, name: from.name, team: "web", knownBy: "token" } : user),
    until: (message, holds) => eventually(() => mailbox.receipt(message.id)?.deliveries.find(holds)),
    inbox: (agent, count) =>
      eventually(() => {
        const rows = mailbox.inbox(agent?.id ?? agentId(userId), { limit: 1_000 });
        return rows.length >= count ? rows.map(({ message }) => message) : undefined;
      }),
    async [Symbol.asyncDispose]() {
      await objects.close();
      await courier[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
      if (given === undefined) rmSync(root, { recursive: true, force: true });
    },
  };
}
