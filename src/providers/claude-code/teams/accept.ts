/** What becomes of a row from the inbox of a Claude Code team. */
import type { Directory } from "../../../agents/directory/directory.ts";
import { giveBackMail } from "../../../agents/stop/giveBack.ts";
import type { Mailbox } from "../../../mailbox/port.ts";
import { teamNameOf } from "./native/members.ts";
import { isLive, userName, switchId, switchName, type Agent } from "../../../model/agent.ts";
import { asTielineError, type TielineError } from "../../../model/errors.ts";
import { seal, type Message, type Seal, type Sender } from "../../../model/message.ts";
import { fieldsOf, requestIn, shutdownVerdict } from "./teamProtocol.ts";
import type { NativeTeam } from "./teams.ts";
import type { Router } from "../../../routing/router.ts";
import type { NativeMail } from "./watch.ts";
import { systemClock } from "../../../model/ids.ts";

export interface AcceptParts extends Seal {
  readonly directory: Directory;
  readonly mailbox: Pick<Mailbox, "message" | "messageWithKey" | "accept" | "inbox" | "abandon">;
  readonly router: Pick<Router, "send">;
  /** The member of that name, as an agent that the directory may not hold yet. */
  readonly memberOf: (team: NativeTeam, name: string) => Agent | null;
  /** The agent of ours that leads the team; null: another session does. */
  readonly leadOf: (team: NativeTeam) => Agent | null;
  /** The agent of ours that is registered in the team under that name. */
  readonly registered: (team: NativeTeam, name: string) => Agent | null;
}

export class NativeIntake {
  constructor(private readonly parts: AcceptParts) {}

  /** Resolves when nothing of the row can be lost any more. */
  readonly accept = async (mail: NativeMail): Promise<void> => {
    if (this.isOurOwn(mail)) return;
    const member = this.memberCalled(mail);
    if (member === null) return this.fromStranger(mail);
    const known = this.parts.directory.add(member);
    // Rows that are only looked at stay where they are, and are met again after a restart.
    const isNews = mail.at > known.stateAt || known === member;
    switch (mail.kind) {
      case "idle_notification":
        if (isNews && isLive(known)) this.parts.directory.observe(known.id, "idle");
        return;
      case "shutdown_response":
        if (isNews) await this.shutdownAnswered(known, mail);
        return;
      default:
        await this.send(mail, member);
    }
  };

  /** What we have written ourselves, wherever we find it, is delivered already. */
  private isOurOwn({ id }: NativeMail): boolean {
    return this.parts.mailbox.message(id) !== null;
  }

  private memberCalled({ team, from }: NativeMail): Agent | null {
    const { leadOf, memberOf, directory } = this.parts;
    const lead = from === team.lead.name ? leadOf(team) : null;
    return lead ?? memberOf(team, from) ?? directory.roster.named(teamNameOf(team), from);
  }

  private async send(mail: NativeMail, member: Agent): Promise<void> {
    const { id, name, team } = member;
    const sender: Sender = { id, name, team, knownBy: "workspace" };
    const draft = {
      kind: mail.kind,
      body: this.bodyOf(mail),
      idempotencyKey: keyOf(mail),
      ...(mail.summary && { summary: mail.summary }),
    };
    try {
      await this.parts.router.send({ to: this.recipientOf(mail), ...draft }, sender);
    } catch (thrown) {
      const refusal = asTielineError(thrown);
      if (refusal.type !== "permanent") throw refusal;
      await this.tell(mail, member, refusal);
    }
  }

  /** Requests are for the user, whichever agent was asked; protocol rows are not for a model to read. */
  private recipientOf({ team, to, kind }: NativeMail): string {
    const agent =
      kind === "text"
        ? (this.parts.registered(team, to) ?? (to === team.lead.name ? this.parts.leadOf(team) : null))
        : null;
    return agent?.id ?? userName;
  }

  /** Which of our agents a lead wants to stop is only in the name of the inbox. */
  private bodyOf({ team, kind, body, to }: NativeMail): string {
    const agent = kind === "shutdown_request" ? this.parts.registered(team, to) : null;
    return agent === null ? body : JSON.stringify({ ...fieldsOf(body), member: to, agent: agent.id });
  }

  private async tell(mail: NativeMail, member: Agent, { message, remedy }: TielineError): Promise<void> {
    await this.asSwitch(mail, member, `your message to ${mail.to} was not sent: ${message}. ${remedy}`);
  }

  /** A sender in no team, or with a name that is no address: its mail is not lost. */
  private async fromStranger(mail: NativeMail): Promise<void> {
    if (mail.kind === "idle_notification") return;
    const body =
      `${JSON.stringify(mail.from)}, which is in no team, wrote to ${mail.to} in the Claude Code team ` +
      `${mail.team.title}:\n${mail.body}`;
    await this.asSwitch(mail, this.parts.directory.roster.user, body);
  }

  /** A member reads nothing but its inbox, so this goes as text, once. */
  private async asSwitch(mail: NativeMail, to: Agent, body: string): Promise<void> {
    const from: Sender = { id: switchId, name: switchName, team: teamNameOf(mail.team), knownBy: "switch" };
    const idempotencyKey = keyOf(mail);
    if (this.parts.mailbox.messageWithKey(switchId, idempotencyKey) !== null) return;
    const notice = seal({ to: to.name, body, idempotencyKey }, from, { inReplyTo: null, hops: 0 }, this.parts);
    await this.parts.mailbox.accept(notice, [to]);
  }

  /** Only a member that agreed has ended. */
  private async shutdownAnswered({ id, name, team }: Agent, mail: NativeMail): Promise<void> {
    const verdict = shutdownVerdict(mail.body);
    if (verdict === null) return;
    const { directory, mailbox, router } = this.parts;
    const request = mailbox
      .inbox(id, { limit: 200 })
      .find(({ message }) => isShutdownRequest(message, verdict.id))?.message;
    if (request) {
      await router.send(
        {
          to: userName,
          kind: "shutdown_response",
          body: mail.body,
          summary: verdict.approved
            ? "agreed to shut down"
            : `will not shut down: ${verdict.reason ?? "no reason given"}`,
          inReplyTo: request.id,
          idempotencyKey: keyOf(mail),
        },
        { id, name, team, knownBy: "workspace" },
      );
    }
    if (!verdict.approved)
      return void directory.update(id, {
        stateReason: `it will not shut down: ${verdict.reason ?? "no reason given"}`,
      });
    directory.update(id, {
      endpoints: [],
      state: "gone",
      stateReason: "it agreed to shut down",
      stateAt: (this.parts.clock ?? systemClock)(),
      shutDown: true,
    });
    await giveBackMail(mailbox, id, `${name} has shut down`);
  }
}

const keyOf = ({ to, id }: NativeMail): string => `native ${to} ${id}`;

const isShutdownRequest = (message: Message, id: string): boolean =>
  message.kind === "shutdown_request" && requestIn(message)?.id === id;
