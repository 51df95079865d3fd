import { elapsedFor, systemClock, type Clock, type Elapsed } from "../model/ids.ts";

/** How many stamps are remembered; the oldest are forgotten first. */
const remembered = 4_096;

interface Sighting {
  readonly at: number;
  /** When that was, on the clock that only goes forward. */
  readonly since: number;
}

/**
 * How long ago something was that is known by its wall time. The wall clock is asked once, when a stamp is first seen;
 * from then on its age grows with time itself, whatever the wall clock is set to. A stamp from the future was made
 * before the clock was set back, and counts as new.
 */
export class Ages {
  private readonly sightings = new Map<string, Sighting>();
  private readonly elapsed: Elapsed;

  constructor(
    private readonly clock: Clock = systemClock,
    elapsed?: Elapsed,
  ) {
    this.elapsed = elapsed ?? elapsedFor(clock);
  }

  /** In milliseconds. `key` names what carries the stamp; a new stamp under it takes the place of the old one. */
  of(key: string, at: number): number {
    const known = this.sightings.get(key);
    if (known?.at === at) return this.elapsed() - known.since;
    const age = Math.max(0, this.clock() - at);
    this.sightings.delete(key);
    this.sightings.set(key, { at, since: this.elapsed() - age });
    if (this.sightings.size > remembered) this.sightings.delete(this.sightings.keys().next().value!);
    return age;
  }
}
