/** Numbers that follow from one seed: the same seed gives the same run. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** A stream of its own that does not change when others are used more or less. */
  fork(name: string): Random;
}

/** sfc32, seeded by the seed and a name. */
export function seededRandom(seed: number, name = ""): Random {
  let [a, b, c, counter] = [seed >>> 0, hashOf(name), 0x9e3779b9, 1];
  const next32 = (): number => {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 15; round++) next32();
  const next = (): number => next32() / 0x1_0000_0000;
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (from) => from[below(from.length)]!,
    fork: (fork) => seededRandom(seed, `${name}/${fork}`),
  };
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
