import type { ReactNode } from "react";
import { Link } from "wouter";
import { describeReason } from "../../../../src/domain/health/describe-reason.ts";
import { useCall } from "../../api/query.ts";
import type { JobHealth } from "../../api/types.ts";
import { exactTime, percent, shorten } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Card } from "../../ui/Card.tsx";
import { Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import { columnsOf, type FieldValue, goodRunFor, metricRows } from "./quality.ts";

/** A field's history, and its values in a good run beside those of the chosen one. */
export function FieldDetails({
  job,
  health,
  field,
  runId,
  onChoose,
}: {
  job: string;
  health: JobHealth;
  field: string;
  runId: string;
  onChoose: (field: string, runId: string) => void;
}) {
  const query = { runs: health.runs.length, field };
  const { data } = useCall("getJobHealth", { params: { job_id: job }, query });
  const values = data?.fields[0]?.values ?? [];
  const valueOf = (id: string | null) => values.find(({ run_id }) => run_id === id);
  const good = goodRunFor(health, field, runId);
  const run = health.runs.find(({ run_id }) => run_id === runId);
  const reason = run?.degraded?.find((one) => one.field === field);
  const [before, now] = [valueOf(good), valueOf(runId)];
  return (
    <Card
      title={
        <>
          Field <code>{field}</code>
        </>
      }
    >
      <div className="stack">
        <History health={health} field={field} runId={runId} onChoose={onChoose} />
        {reason === undefined ? null : <p className="quality-reason wrap">{describeReason(reason)}</p>}
        {data === undefined ? (
          <Skeleton lines={4} />
        ) : (
          <div className="quality-sides">
            <Side
              title={good === null ? "No good run" : "Good run"}
              health={health}
              runId={good}
              value={before}
              badge={<Badge tone="good">Good</Badge>}
            />
            <Side
              title="Chosen run"
              health={health}
              runId={runId}
              value={now}
              badge={
                now?.verdict === "degraded" ? (
                  <Badge tone="warn">Degraded</Badge>
                ) : (
                  <Badge tone={now?.verdict === "good" ? "good" : "neutral"}>
                    {now?.verdict === "good" ? "Good" : "Not compared"}
                  </Badge>
                )
              }
            />
          </div>
        )}
        {data === undefined ? null : <Figures before={before} now={now} />}
      </div>
    </Card>
  );
}

const BAR_WIDTH = 60;

/** One bar per run: the share of records that have the field. */
function History({
  health,
  field,
  runId,
  onChoose,
}: {
  health: JobHealth;
  field: string;
  runId: string;
  onChoose: (field: string, runId: string) => void;
}) {
  const row = health.fields.find(({ name }) => name === field);
  if (row === undefined) return null;
  const usual = row.baseline?.coverage ?? null;
  return (
    <figure className="quality-history">
      <div
        className="quality-bars"
        role="group"
        aria-label={`History of ${field}`}
        style={{ maxWidth: health.runs.length * BAR_WIDTH }}
      >
        {usual === null ? null : (
          <span className="quality-usual" style={{ bottom: `${usual * 100}%` }} aria-hidden="true" />
        )}
        {columnsOf(health).map((run) => {
          const value = row.values.find(({ run_id }) => run_id === run.run_id);
          const coverage = value?.coverage ?? 0;
          const words = `${percent(coverage)} in the run of ${exactTime(Date.parse(run.ended_at))}`;
          return (
            <button
              key={run.run_id}
              type="button"
              className={`quality-bar quality-bar-${value?.verdict ?? "unknown"}`}
              aria-pressed={run.run_id === runId}
              aria-label={words}
              title={words}
              onClick={() => onChoose(field, run.run_id)}
            >
              <span style={{ height: `${Math.max(1, coverage * 100)}%` }} />
            </button>
          );
        })}
      </div>
      <figcaption className="soft">
        Records that have it, oldest run first.{" "}
        {usual === null ? "" : `The line is the median of the good runs: ${percent(usual)}.`}
      </figcaption>
    </figure>
  );
}

function Side({
  title,
  health,
  runId,
  value,
  badge,
}: {
  title: string;
  health: JobHealth;
  runId: string | null;
  value: FieldValue | undefined;
  badge: ReactNode;
}) {
  const run = health.runs.find(({ run_id }) => run_id === runId);
  return (
    <section className="quality-side" aria-label={title}>
      <header className="spread">
        <h3>
          {title}
          {run === undefined ? null : (
            <>
              {" · "}
              <Link className="link" href={`/runs/${run.run_id}`}>
                <Time at={run.ended_at} />
              </Link>
            </>
          )}
        </h3>
        {run === undefined ? null : badge}
      </header>
      {value === undefined || value.examples.length === 0 ? (
        <p className="soft">{run === undefined ? "There is no other run to compare with." : "No examples."}</p>
      ) : (
        <ul className="quality-examples">
          {value.examples.map((example, index) => (
            <li key={`${index} ${example.url}`}>
              {example.value === null ? (
                <span className="quality-empty">empty</span>
              ) : (
                <span className="wrap">{example.value}</span>
              )}
              {example.url === null ? null : (
                <a
                  className="link wrap quality-page"
                  href={example.url}
                  title={example.url}
                  target="_blank"
                  rel="noreferrer noopener"
                >
                  {shorten(example.url, 80)}
                </a>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Figures({ before, now }: { before: FieldValue | undefined; now: FieldValue | undefined }) {
  const rows = metricRows(before, now, percent);
  return (
    <table className="quality-figures">
      <thead>
        <tr>
          <th scope="col">Metric</th>
          <th scope="col">Good run</th>
          <th scope="col">Chosen run</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">{row.name}</th>
            <td className="num">{row.before}</td>
            <td className="num">{row.now === row.before ? row.now : <strong>{row.now}</strong>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
