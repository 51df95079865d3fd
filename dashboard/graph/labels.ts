/** Which names fit: those of the busiest nodes first, and no two on top of each other. The others show on hover. */

export interface LabelBox {
  readonly key: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** A heavier label goes before a lighter one. */
  readonly weight: number;
}

const letterWidth = 7.4;
const lineHeight = 16;
const longest = 18;

export const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

/** The keys of the labels that are drawn. `x` is the middle of a label. */
export function fitting(boxes: readonly LabelBox[]): ReadonlySet<string> {
  const placed: LabelBox[] = [];
  const first = boxes.toSorted((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1));
  for (const box of first) if (!placed.some((one) => overlap(one, box))) placed.push(box);
  return new Set(placed.map(({ key }) => key));
}

const widthOf = ({ text }: LabelBox): number => shortened(text).length * letterWidth;

const overlap = (a: LabelBox, b: LabelBox): boolean =>
  Math.abs(a.y - b.y) < lineHeight && Math.abs(a.x - b.x) < (widthOf(a) + widthOf(b)) / 2;
