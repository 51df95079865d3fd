/**
 * A list of any length in which only the visible rows exist. All rows have one height, so that nothing is measured.
 */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

export interface WindowedProps<Row> {
  readonly rows: readonly Row[];
  readonly rowHeight: number;
  readonly keyOf: (row: Row) => string;
  readonly draw: (row: Row, at: number) => VNode;
  readonly label: string;
  /** It grows at its end, and is shown from there. Else it begins at the top. */
  readonly grows?: boolean;
  /** Called when the first rows become visible. */
  readonly onTop?: () => void;
  /** Called when the last row is visible. */
  readonly onBottom?: () => void;
}

const beyond = 8;

export function Windowed<Row>({
  rows,
  rowHeight,
  keyOf,
  draw,
  label,
  grows = true,
  onTop,
  onBottom,
}: WindowedProps<Row>): VNode {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const stuck = useRef(grows);
  const firstKey = useRef<string | null>(null);
  const first = rows[0] === undefined ? null : keyOf(rows[0]);

  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => (height.value = element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // What is added above must not move the visible rows; what is added below is followed only from the end.
  useLayoutEffect(() => {
    const element = box.current!;
    if (stuck.current) element.scrollTop = rows.length * rowHeight;
    else if (firstKey.current !== null && firstKey.current !== first) {
      const added = rows.findIndex((row) => keyOf(row) === firstKey.current);
      if (added > 0) element.scrollTop += added * rowHeight;
    }
    firstKey.current = first;
    top.value = element.scrollTop;
    if (stuck.current) onBottom?.();
  }, [rows.length, first, height.value]);

  function scrolled(): void {
    const element = box.current;
    // The list may have gone between the scrolling and its event.
    if (element === null) return;
    top.value = element.scrollTop;
    stuck.current = grows && element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
    if (stuck.current) onBottom?.();
    if (element.scrollTop < rowHeight * 40) onTop?.();
  }

  const from = Math.max(0, Math.floor(top.value / rowHeight) - beyond);
  const to = Math.min(rows.length, Math.ceil((top.value + height.value) / rowHeight) + beyond);
  return (
    <div
      class="windowed"
      ref={box}
      onScroll={scrolled}
      role="list"
      aria-label={label}
      tabIndex={-1}
      data-grows={grows || undefined}
    >
      <div class="whole" style={{ height: `${rows.length * rowHeight}px` }}>
        <div class="part" style={{ transform: `translateY(${from * rowHeight}px)` }}>
          {rows.slice(from, to).map((row, at) => (
            <div
              role="listitem"
              key={keyOf(row)}
              aria-setsize={rows.length}
              aria-posinset={from + at + 1}
              style={{ height: `${rowHeight}px` }}
            >
              {draw(row, from + at)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
