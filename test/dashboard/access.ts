/**
 * Checks that run inside the page. Each is one function without anything around it, because it is sent there as text.
 */

/** Things that a user can press or fill in, and that have no accessible name. */
export function nameless(): string[] {
  const controls = document.querySelectorAll<HTMLElement>(
    "a, button, input, select, textarea, summary, [role=button], [role=switch], [role=dialog], [role=img], " +
      "[tabindex='0']",
  );
  const nameOf = (element: HTMLElement): string => {
    const labels =
      element instanceof HTMLInputElement ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement
        ? [...(element.labels ?? [])].map((label) => label.textContent ?? "")
        : [];
    const isField = element.matches("input, select, textarea");
    return [element.getAttribute("aria-label") ?? "", ...labels, isField ? "" : (element.textContent ?? "")]
      .join("")
      .trim();
  };
  return [...controls]
    .filter((element) => element.checkVisibility() && element.closest(".xterm") === null && nameOf(element) === "")
    .map((element) => element.outerHTML.slice(0, 120));
}

/** Text with too little contrast: below 4.5, or 3 where it is large (WCAG AA). */
export function contrastFaults(): string[] {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  type Colour = readonly [red: number, green: number, blue: number, alpha: number];
  const colourOf = (css: string): Colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = ([red, green, blue, alpha]: Colour, under: Colour): Colour => [
    red * alpha + under[0] * (1 - alpha),
    green * alpha + under[1] * (1 - alpha),
    blue * alpha + under[2] * (1 - alpha),
    1,
  ];
  const groundOf = (element: Element | null): Colour => {
    if (element === null) return [255, 255, 255, 1];
    const own = colourOf(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, groundOf(element.parentElement));
  };
  const luminance = (colour: Colour): number => {
    const [red = 0, green = 0, blue = 0] = colour
      .slice(0, 3)
      .map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const isShown = (element: HTMLElement): boolean =>
    element.checkVisibility({ opacityProperty: true }) &&
    element.closest(".xterm, :disabled, [aria-hidden=true]") === null;
  const faults: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement!;
    if (node.textContent!.trim() === "" || !(element instanceof HTMLElement) || !isShown(element)) continue;
    const style = getComputedStyle(element);
    const ground = groundOf(element);
    const [low = 0, high = 0] = [luminance(over(colourOf(style.color), ground)), luminance(ground)].toSorted(
      (a, b) => a - b,
    );
    const ratio = (high + 0.05) / (low + 0.05);
    const isLarge =
      parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5))
      faults.push(
        `${ratio.toFixed(2)} ${style.color} on ${ground.join(",")}: ${node.textContent!.trim().slice(0, 40)}`,
      );
  }
  return faults;
}
