/** One-time codes of links. They are in memory only: a link is used at once or never, and dies with the daemon. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { systemRandom, type RandomBytes } from "../../model/ids.ts";
import { systemTimers, type Scheduled, type Timers } from "../../os/timers.ts";

export interface CodesOptions {
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly lifeMs?: number;
  readonly timers?: Pick<Timers, "after">;
  readonly random?: RandomBytes;
}

export interface LoginCode {
  readonly id: string;
  readonly secret: string;
}

interface Issued {
  readonly secret: Buffer;
  /** The only origin that may use it. */
  readonly origin: string;
  readonly until: number;
  readonly timer: Scheduled;
  readonly over: () => void;
  tries: number;
}

const mostIssued = 16;
const mostTries = 3;

export class LoginCodes {
  readonly #issued = new Map<string, Issued>();
  readonly #now: () => number;
  readonly #lifeMs: number;
  readonly #timers: Pick<Timers, "after">;
  readonly #random: RandomBytes;

  constructor({ now, lifeMs = 60_000, timers = systemTimers, random = systemRandom }: CodesOptions) {
    this.#now = now;
    [this.#timers, this.#random] = [timers, random];
    this.#lifeMs = lifeMs;
  }

  /**
   * `over` is called once the code is worth nothing any more: used, expired, tried too often or pushed out by newer
   * ones.
   */
  create(origin: string, over: () => void = () => undefined): LoginCode {
    if (this.#issued.size >= mostIssued) this.#drop(this.#issued.keys().next().value!);
    const id = Buffer.from(this.#random(9)).toString("base64url");
    const secret = Buffer.from(this.#random(32));
    const timer = this.#timers.after(this.#lifeMs, () => this.#drop(id), { background: true });
    this.#issued.set(id, { secret, origin, until: this.#now() + this.#lifeMs, timer, over, tries: 0 });
    return { id, secret: secret.toString("base64url") };
  }

  /** Whether the proof was made with the code, which then is used up. */
  redeem(id: string, origin: string, text: string, proof: string): boolean {
    const code = this.#issued.get(id);
    if (code === undefined) return false;
    const expected = createHmac("sha256", code.secret).update(text).digest();
    const given = Buffer.from(proof, "base64url");
    const isRight =
      given.length === expected.length &&
      timingSafeEqual(given, expected) &&
      code.origin === origin &&
      this.#now() < code.until;
    if (isRight || ++code.tries >= mostTries) this.#drop(id);
    return isRight;
  }

  /** None of them works any more. */
  clear(): void {
    for (const id of [...this.#issued.keys()]) this.#drop(id);
  }

  #drop(id: string): void {
    const code = this.#issued.get(id);
    if (code === undefined) return;
    this.#issued.delete(id);
    code.timer.cancel();
    code.over();
  }
}
