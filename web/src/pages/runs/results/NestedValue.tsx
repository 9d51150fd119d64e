import { useState } from "react";
import { fullNumber } from "../../../logic/format.ts";
import { shapeOf } from "../../../logic/nested.ts";
import { Address } from "../../../ui/text/Addresses.tsx";
import { Button } from "../../../ui/Button.tsx";
import "./nested.css";

const AT_FIRST = 50;

/** A value of any shape in full: texts as they are, lists as lists, similar objects as a table. */
export function NestedValue({ value, depth = 0 }: { value: unknown; depth?: number }) {
  const shape = shapeOf(value, depth);
  switch (shape.kind) {
    case "none":
      return <span className="soft">–</span>;
    case "link":
      return <Address url={shape.href} />;
    case "text":
      return <div className="record-text">{shape.text}</div>;
    case "json":
      return <pre className="record-text">{shape.text}</pre>;
    case "pairs":
      return (
        <dl className="nested-pairs">
          {shape.pairs.map(([name, inner]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <NestedValue value={inner} depth={depth + 1} />
              </dd>
            </div>
          ))}
        </dl>
      );
    case "table":
      return <NestedTable columns={shape.columns} rows={shape.rows} />;
    case "list":
      return <NestedList values={shape.values} depth={depth} />;
  }
}

/** The first of many, and a button for the others. */
function useFirst<Value>(all: readonly Value[]): { shown: readonly Value[]; more: React.ReactNode } {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || all.length <= AT_FIRST) return { shown: all, more: null };
  const more = (
    <div>
      <Button size="small" onClick={() => setWhole(true)}>
        {`Show all ${fullNumber(all.length)}`}
      </Button>
    </div>
  );
  return { shown: all.slice(0, AT_FIRST), more };
}

function NestedList({ values, depth }: { values: readonly unknown[]; depth: number }) {
  const { shown, more } = useFirst(values);
  return (
    <div className="nested">
      <ol className="nested-list">
        {shown.map((value, n) => (
          // Values may repeat; the index is the key.
          <li key={n}>
            <NestedValue value={value} depth={depth + 1} />
          </li>
        ))}
      </ol>
      {more}
    </div>
  );
}

function NestedTable({
  columns,
  rows,
}: {
  columns: readonly string[];
  rows: readonly Readonly<Record<string, unknown>>[];
}) {
  const { shown, more } = useFirst(rows);
  return (
    <div className="nested">
      {/* Scrollable, so it must be focusable. */}
      <div className="nested-table" tabIndex={0} role="region" aria-label="Values">
        <table>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, n) => (
              <tr key={n}>
                {columns.map((name) => (
                  <td key={name} className={typeof row[name] === "number" ? "num" : ""}>
                    <NestedValue value={row[name]} depth={2} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </div>
  );
}
