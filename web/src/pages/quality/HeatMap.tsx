import { useEffect, useRef } from "react";
import { Link } from "wouter";
import type { JobHealth } from "../../api/types.ts";
import { exactTime, percent, shortNumber } from "../../logic/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { cellsOf, columnsOf, type HeatCell } from "./quality.ts";

const WORDS = { good: "as before", degraded: "worse than before", unknown: "not compared" } as const;

const dayOf = (at: string) => new Date(at).toLocaleDateString("en", { day: "numeric", month: "short" });
const timeOf = (at: string) => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** Fields × runs: how many records have the field. */
export function HeatMap({
  health,
  field,
  runId,
  onChoose,
}: {
  health: JobHealth;
  field: string | null;
  runId: string | null;
  onChoose: (field: string, runId: string) => void;
}) {
  const runs = columnsOf(health);
  const box = useRef<HTMLDivElement>(null);
  const newest = runs.at(-1)?.run_id;
  // The newest run is at the right end, which a phone does not show otherwise.
  useEffect(() => {
    if (box.current !== null) box.current.scrollLeft = box.current.scrollWidth;
  }, [newest]);
  return (
    <>
      <div className="heat-scroll" ref={box} tabIndex={0} role="region" aria-label="Fields by run">
        <table className="heat">
          <thead>
            <tr>
              <th scope="col" className="heat-field">
                Field
              </th>
              {runs.map((run) => (
                <th key={run.run_id} scope="col" className="heat-run">
                  <Link href={`/runs/${run.run_id}`} title={`Run of ${exactTime(Date.parse(run.ended_at))}`}>
                    <span>{dayOf(run.ended_at)}</span>
                    <span className="soft">{timeOf(run.ended_at)}</span>
                    {run.degraded === null ? null : (
                      <span className="heat-mark">
                        <Icon name="warning" size={12} />
                        <span className="spoken">degraded</span>
                      </span>
                    )}
                  </Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {health.fields.map((row) => (
              <tr key={row.name}>
                <th scope="row" className="heat-field">
                  <span className="truncate mono" title={row.name}>
                    {row.name}
                  </span>
                  {row.hint === "never_filled" ? <span className="heat-hint">never filled</span> : null}
                </th>
                {cellsOf(row).map((cell) => (
                  <Cell
                    key={cell.runId}
                    cell={cell}
                    field={row.name}
                    isChosen={row.name === field && cell.runId === runId}
                    onChoose={onChoose}
                  />
                ))}
              </tr>
            ))}
            <tr className="heat-records">
              <th scope="row" className="heat-field">
                Records
              </th>
              {runs.map(({ run_id: id, records }) => (
                <td key={id} className="num">
                  {shortNumber(records)}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
      <Legend health={health} />
    </>
  );
}

/** The colours that the map has: without degraded runs there is no red to explain. */
function Legend({ health }: { health: JobHealth }) {
  const shown = new Set(health.fields.flatMap((row) => cellsOf(row).map(({ verdict }) => verdict)));
  return (
    <ul className="heat-legend soft" aria-hidden="true">
      {(["good", "degraded", "unknown"] as const)
        .filter((verdict) => shown.has(verdict))
        .map((verdict) => (
          <li key={verdict}>
            <span className={`heat-swatch heat-${verdict}`} />
            {WORDS[verdict]}
          </li>
        ))}
    </ul>
  );
}

function Cell({
  cell: { runId, coverage, verdict },
  field,
  isChosen,
  onChoose,
}: {
  cell: HeatCell;
  field: string;
  isChosen: boolean;
  onChoose: (field: string, runId: string) => void;
}) {
  const shown = percent(coverage);
  return (
    <td>
      <button
        type="button"
        className={`heat-cell heat-${verdict}`}
        // Colour by coverage; text says the same.
        style={{ "--part": `${Math.round(8 + coverage * 34)}%` } as React.CSSProperties}
        aria-pressed={isChosen}
        aria-label={`${field}: ${shown}, ${WORDS[verdict]}`}
        title={`${field}: ${shown} of the records, ${WORDS[verdict]}`}
        onClick={() => onChoose(field, runId)}
      >
        <span className="num">{Math.round(coverage * 100)}</span>
      </button>
    </td>
  );
}
