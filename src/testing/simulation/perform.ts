/** Performs the steps of a run in a world. A step that has nothing to act on does nothing. */
import { userId, userName } from "../../model/agent.ts";
import { asTielineError } from "../../model/errors.ts";
import type { MessageId } from "../../model/ids.ts";
import { replyAddress, whens, type Draft, type Message, type Sender } from "../../model/message.ts";
import type { Resident } from "./resident.ts";
import type { Fault, Step } from "./steps.ts";
import { noAnswer, type World } from "./world.ts";

/** How long a sender waits before it sends again what was not answered. */
const againMs = 400;

export function perform(world: World, step: Step): void {
  world.trace.note("world", () => JSON.stringify(step));
  const resident = (at: number): Resident => world.residents[at % world.residents.length]!;
  switch (step.do) {
    case "send": {
      const { from, when, lines, ttlMs } = step;
      const to = step.to === from ? from + 1 : step.to;
      const body = Array.from({ length: lines }, (_, line) => `line ${line + 1} for ${resident(to).name}`).join("\n");
      const draft = { to: resident(to).name, body, when: whens[when] };
      return send(world, senderAt(world, from), { ...draft, ...(ttlMs !== undefined && { ttlMs }) });
    }
    case "broadcast":
      return send(world, senderAt(world, step.from), { to: "@web", body: "for all" });
    case "ask":
      return send(world, senderAt(world, step.from), { to: resident(step.to).name, body: "why?", expectsReply: true });
    case "reply":
      return reply(world, resident(step.agent));
    case "cancel":
    case "retry":
      return decide(world, step.do, step.nth);
    case "spawn":
      if (!resident(step.agent).isRunning && world.machine.tmux.alive) resident(step.agent).start();
      return world.adopt(resident(step.agent));
    case "adopt":
      return world.adopt(resident(step.agent));
    case "kill-agent":
      world.sometimes("agent killed");
      return resident(step.agent).kill();
    case "fetch":
      if (resident(step.agent).conversation.isWorking) void world.callHook(resident(step.agent), "PostToolUse");
      return undefined;
    case "fault":
      return fault(world, step.fault, resident(step.agent), step.value);
    default:
      return userAct(world, step.do, resident(step.agent));
  }
}

type UserAct = Extract<
  Step,
  { readonly do: "approve" | "type" | "clear" | "enter" | "attach" | "detach" | "copy-mode" }
>["do"];

function userAct(world: World, act: UserAct, resident: Resident): void {
  switch (act) {
    case "approve":
      return resident.program?.close();
    case "type":
      for (const key of "draft") resident.press(key);
      return world.sometimes("user typed a draft");
    case "clear":
      return resident.press("C-u");
    case "enter":
      return resident.press("Enter");
    case "attach":
      return resident.attach();
    case "detach":
      return resident.detach();
    case "copy-mode":
      if (resident.isRunning) world.machine.tmux.run(`copy-mode -t ${resident.pane}`);
      return world.sometimes("copy mode");
  }
}

function senderAt(world: World, at: number): Sender | null {
  const resident = world.residents[at];
  if (resident === undefined) return { id: userId, name: userName, team: "web", knownBy: "user" };
  return resident.id && { id: resident.id, name: resident.name, team: "web", knownBy: "token" };
}

/** Sends until there is an answer. The key makes one message of all of these. */
function send(world: World, from: Sender | null, draft: Draft): void {
  if (from === null) return;
  const number = world.nextKey();
  const [idempotencyKey, body] = [`key ${number}`, `text ${number}: ${draft.body}`];
  const attempt = async (): Promise<void> => {
    const answer = await world
      .ask((daemon) => daemon.router.send({ ...draft, body, idempotencyKey }, from))
      .catch((fault: unknown) => asTielineError(fault));
    if (answer === noAnswer || ("code" in answer && answer.code === "STORE_UNAVAILABLE")) {
      world.sometimes("sender sends again");
      world.time.after(againMs, () => void attempt());
    } else if ("code" in answer) {
      world.trace.note("sender", () => `${from.name}: ${answer.message}`);
      if (answer.code === "INTERNAL") world.report("send", answer.cause ?? answer);
    } else {
      world.trace.note("sender", () => `${from.name} has the receipt of ${answer.receipt.message.tag}`);
      world.oracles.accepted(answer.receipt.message.tag);
    }
  };
  void attempt();
}

/** The agent answers the last text that its model has. */
function reply(world: World, resident: Resident): void {
  const tag = resident.lastAsked;
  const original = tag === null ? undefined : world.tables.byTag.get(tag);
  if (original === undefined || resident.id === null || original.from.id === "tieline") return;
  const from: Sender = { id: resident.id, name: resident.name, team: "web", knownBy: "token" };
  send(world, from, { to: replyAddress(original), body: "an answer", inReplyTo: original.id });
}

/** The user cancels a message, or sends again what did not arrive. */
function decide(world: World, verb: "cancel" | "retry", nth: number): void {
  const messages = [...world.tables.messages.values()];
  const message: Message | undefined = messages.at(-1 - nth);
  if (message === undefined || message.kind !== "text") return;
  const id: MessageId = message.id;
  void world
    .ask((daemon) => (verb === "cancel" ? daemon.mailbox.cancel(id) : daemon.mailbox.retry(id)))
    .catch((fault: unknown) => world.report(verb, fault));
}

function fault(world: World, fault: Fault, resident: Resident, value: number): void {
  const { machine, time } = world;
  switch (fault) {
    case "swallow-paste":
      if (resident.program) resident.program.swallowsPaste = 1;
      break;
    case "swallow-enter":
      if (resident.program) resident.program.swallowsEnter = 1 + (value % 2);
      break;
    case "dialog":
      resident.program?.open(value % 2 === 0 ? "permission" : "dialog");
      break;
    case "dialog-after-paste":
      return afterPaste(world, value, (pasted) => pasted.program?.open("permission"));
    case "typing-after-paste":
      return afterPaste(world, value, (pasted) => {
        for (const key of "hey") pasted.press(key);
      });
    case "respawn":
      resident.respawn();
      break;
    case "exit-to-shell":
      resident.exit();
      break;
    case "editor":
      resident.edit(true);
      time.after(2 * value, () => resident.edit(false));
      break;
    case "restart-tmux":
      return restartTmux(world, value);
    case "silent-client":
      machine.silenceClients();
      break;
    case "detach-clients":
      machine.detachClients();
      break;
    case "watch-lost":
    case "watch-late":
    case "watch-doubled":
      machine.watchFault = {
        kind: fault.slice("watch-".length) as "lost" | "late" | "doubled",
        left: 1 + (value % 10),
      };
      return;
    case "answer-lost":
      machine.answersLost = 1;
      return;
    case "slow-tmux":
      machine.slowUntil = time.elapsed() + 2 * value;
      break;
    case "commit-lost":
      world.commitFault = "lost";
      return;
    case "kill-at-commit":
      world.commitFault = value % 2 === 0 ? "killed-before" : "killed-after";
      return bootLater(world, value);
    case "kill":
      world.killIn = value % 25;
      return bootLater(world, value);
    case "two-daemons":
      void world.boot();
      break;
    case "clock-jump":
      time.skewMs += (value - 500) * 20_000;
      break;
    case "hook-dies":
      world.hookDies = value % 2 === 0 ? "before" : "after";
      return;
    case "socket-drops":
      world.socketFault = "success and dropped";
      return;
    case "socket-answer-lost":
      world.socketFault = "answer lost";
      return;
    case "model-fails":
      resident.modelFails = true;
      break;
  }
  world.sometimes(`fault: ${fault}`);
}

/** Something happens to the next pane that gets a paste, a moment later. */
function afterPaste(world: World, value: number, act: (resident: Resident) => void): void {
  world.pasted = (resident) => {
    world.pasted = () => undefined;
    world.time.after((value % 10) / 2, () => {
      world.sometimes("something happened between paste and Enter");
      act(resident);
    });
  };
}

/** A supervisor starts Tieline again; two of them may race. */
function bootLater(world: World, value: number): void {
  world.time.after(50 + 3 * value, () => void world.boot());
  if (value % 3 === 0) world.time.after(50 + 3 * value, () => void world.boot());
}

/** The same pane ids belong to other programs in the new server. */
function restartTmux(world: World, value: number): void {
  if (!world.machine.tmux.alive) return;
  world.sometimes("fault: restart-tmux");
  world.machine.endTmux();
  for (const resident of world.residents) resident.lost();
  world.time.after(value, () => {
    if (world.machine.tmux.alive) return;
    world.machine.startTmux();
    const from = value % world.residents.length;
    for (const resident of [...world.residents.slice(from), ...world.residents.slice(0, from)]) resident.start();
  });
}

/** The faults are over: what is broken is started again, and the user does what a program waits for. */
export function calm(world: World): void {
  const { machine } = world;
  [machine.slowUntil, machine.answersLost, machine.watchFault] = [0, 0, null];
  [world.commitFault, world.killIn, world.hookDies, world.socketFault] = ["none", null, null, null];
  world.pasted = () => undefined;
  if (!machine.tmux.alive) machine.startTmux();
  void world.boot();
  world.time.run(100);
  for (const resident of world.residents) {
    if (!resident.isRunning) {
      resident.kill();
      if (!machine.tmux.alive) machine.startTmux();
      resident.start();
    }
    resident.edit(false);
    if (resident.program) [resident.program.swallowsPaste, resident.program.swallowsEnter] = [0, 0];
    resident.program?.close();
    resident.program?.key("C-u", "user");
    resident.detach();
    machine.tmux.run(`copy-mode -q -t ${resident.pane}`);
    world.adopt(resident);
  }
}
