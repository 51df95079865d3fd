/**
 * Messages on their way along an edge, and refusals at its gate. They are drawn past Preact: they live for a moment.
 */
export interface Point {
  readonly x: number;
  readonly y: number;
}

const travelMs = 900;
const svg = "http://www.w3.org/2000/svg";
const still = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function travel(layer: SVGGElement, from: Point, to: Point): void {
  const spark = document.createElementNS(svg, "circle");
  spark.setAttribute("r", "5");
  spark.setAttribute("class", "spark");
  layer.append(spark);
  const at = ({ x, y }: Point): string => `translate(${x}px, ${y}px)`;
  const frames = still()
    ? [
        { transform: at(to), opacity: 1 },
        { transform: at(to), opacity: 0 },
      ]
    : [{ transform: at(from) }, { transform: at(to) }];
  void spark.animate(frames, { duration: travelMs, easing: "ease-in-out" }).finished.finally(() => spark.remove());
}

/** Stops in the middle, at the gate, and says why. */
export function refuse(layer: SVGGElement, from: Point, to: Point, reason: string): void {
  const group = document.createElementNS(svg, "g");
  group.setAttribute("class", "refusal");
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  group.setAttribute("transform", `translate(${x} ${y})`);
  const gate = document.createElementNS(svg, "path");
  gate.setAttribute("d", "M-7 -7L7 7M7 -7L-7 7");
  const words = document.createElementNS(svg, "text");
  words.setAttribute("y", "-14");
  words.textContent = reason;
  group.append(gate, words);
  layer.append(group);
  void group
    .animate([{ opacity: 0 }, { opacity: 1, offset: 0.1 }, { opacity: 1, offset: 0.8 }, { opacity: 0 }], {
      duration: 4_000,
    })
    .finished.finally(() => group.remove());
}
