/** Charts, each with its numbers as a table: for screen readers, and for exact values. */
import type { ComponentChildren, VNode } from "preact";

export const Figure = ({ name, value }: { name: string; value: string }): VNode => (
  <div class="figure">
    <strong>{value}</strong>
    <span>{name}</span>
  </div>
);

export interface ChartTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

interface ChartProps {
  readonly title: string;
  /** Words beside the chart, and how high they are, of 100. */
  readonly marks: readonly (readonly [word: string, height: number])[];
  readonly legend?: readonly string[];
  /** What is written below the beginning and the end. */
  readonly ends: readonly [string, string];
  readonly table: ChartTable;
  readonly children: ComponentChildren;
}

/** The drawing is stretched to its room; the words are around it, so that they keep their size on every screen. */
export function Chart({ title, marks, legend = [], ends, table, children }: ChartProps): VNode {
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {legend.map((series, index) => (
            <span key={series} class={`series s${index % 6}`}>
              {series}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot">
        {marks.map(([word, height]) => (
          <span key={word} class="level" style={{ bottom: `${height}%` }}>
            <span>{word}</span>
          </span>
        ))}
        <svg
          viewBox="0 0 600 100"
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}; the table has the values`}
        >
          {children}
        </svg>
      </div>
      <p class="ends">
        <span>{ends[0]}</span>
        <span>{ends[1]}</span>
      </p>
      <TableOf title={title} table={table} />
    </figure>
  );
}

function TableOf({ title, table: { columns, rows } }: { title: string; table: ChartTable }): VNode {
  return (
    <details class="values">
      <summary>Table</summary>
      {rows.length === 0 ? (
        <p class="muted">No values in this range.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table aria-label={title}>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([first, ...others], at) => (
                <tr key={at}>
                  <th scope="row">{first}</th>
                  {others.map((value, column) => (
                    <td key={column}>{typeof value === "number" ? value.toLocaleString() : value}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

interface CountRow {
  readonly name: string;
  readonly value: number;
}

interface CountsProps {
  readonly title: string;
  readonly columns: readonly [string, string];
  readonly rows: readonly CountRow[];
  /** How many rows there are, where not all are given. */
  readonly all?: number;
  readonly none: string;
}

const shownRows = 12;

export function Counts({ title, columns, rows, all = rows.length, none }: CountsProps): VNode {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <figure class="chart counts">
      <figcaption>{title}</figcaption>
      {rows.length === 0 ? <p class="muted">{none}</p> : null}
      {rows.length > 0 && (
        <table aria-label={title}>
          <thead class="hidden">
            <tr>
              <th scope="col">{columns[0]}</th>
              <th scope="col">Share</th>
              <th scope="col">{columns[1]}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shownRows).map(({ name, value }) => (
              <tr key={name}>
                <th scope="row" title={name}>
                  {name}
                </th>
                <td aria-hidden="true">
                  <span class="bar" style={{ width: `${(100 * value) / most}%` }} />
                </td>
                <td class="number">{value.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {all > shownRows && <p class="muted small">{`The largest ${shownRows} of ${all.toLocaleString()}`}</p>}
    </figure>
  );
}
