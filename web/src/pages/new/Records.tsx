import { asText } from "./logic/found.ts";
import { Card } from "../../ui/Card.tsx";
import type { Found } from "./usePreview.ts";

const SHOWN = 20;

/** The records a run would extract from this page. */
export function Records({ found, names }: { found: Found | null; names: readonly string[] }) {
  if (found === null) return null;
  const { records, errors } = found;
  const first = records.slice(0, SHOWN);
  const columns = names.length > 0 ? names : [...new Set(first.flatMap((record) => Object.keys(record)))];
  const count = records.length === 1 ? "1 record" : `${records.length} records`;
  return (
    <Card
      flush
      title="Records"
      actions={
        <span className="soft num" role="status">
          {count}
          {errors.length === 0 ? "" : `, ${errors.length === 1 ? "1 problem" : `${errors.length} problems`}`}
        </span>
      }
    >
      {first.length === 0 ? (
        <p className="records-none soft">Nothing was found with these fields.</p>
      ) : (
        <div className="records" tabIndex={0} role="region" aria-label="Records found">
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
              {first.map((record, n) => (
                <tr key={n}>
                  {columns.map((name) => (
                    <td key={name}>{cell(record[name])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {records.length > SHOWN ? <p className="records-none soft">and {records.length - SHOWN} more</p> : null}
        </div>
      )}
    </Card>
  );
}

const cell = (value: unknown) =>
  value === undefined || value === null ? (
    <span className="soft">–</span>
  ) : (
    <span title={asText(value)}>{asText(value)}</span>
  );
