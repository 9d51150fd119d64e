import { useState } from "react";
import { Link } from "wouter";
import { useCall, useChange } from "../../api/query.ts";
import type { Job, JobHealth, Operations } from "../../api/types.ts";
import { actorText } from "../../logic/actor.ts";
import { capital, count, percent, shorten } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Checkbox } from "../../ui/Field.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import { ruleText } from "../../logic/rule-text.ts";
import "./repair.css";

type JobRepair = Operations["getJobRepair"]["answer"];
type RepairedField = JobRepair["fields"][number];

const OF_REPAIR = ["getJobRepair", "getJob", "listJobs", "getJobHealth"] as const;
const REFRESH_MS = 10_000;

/** New rules for fields whose rules broke: proposed, shown with their values, accepted or rejected by a person. */
export function Repair({ job, health, isDegraded }: { job: Job; health: JobHealth; isDegraded: boolean }) {
  const params = { job_id: job.id };
  const hasNone = health.repair === null;
  const { data, error, refetch } = useCall(
    "getJobRepair",
    { params },
    { enabled: !hasNone, refetchInterval: REFRESH_MS },
  );
  const propose = useChange("proposeJobRepair", { invalidates: OF_REPAIR, onError: toastError });
  // A repair of the past is in the versions of the job.
  const isShown = isDegraded || health.repair === "open" || health.repair === "accepted";
  if (!isShown) return null;
  const tryAgain = (
    <Button icon="retry" needs="proposeJobRepair" busy={propose.isPending} onClick={() => propose.mutate({ params })}>
      {data === undefined ? "Propose a repair" : "Propose again"}
    </Button>
  );
  if (data === undefined)
    return (
      <Card title="Repair" actions={hasNone ? tryAgain : undefined}>
        {hasNone ? (
          <p className="soft">
            If the values are still on the pages, in another place, new rules can be found. Nothing is fetched: the
            saved pages of this job are compared with those of the degraded run.
          </p>
        ) : error === null ? (
          <Skeleton lines={3} />
        ) : (
          <ErrorBox error={error} onRetry={() => void refetch()} />
        )}
      </Card>
    );
  return (
    <Card
      title="Repair"
      actions={
        data.state === "open" ? (
          <Decide job={job} number={data.number} />
        ) : data.state === "accepted" ? undefined : (
          tryAgain
        )
      }
    >
      <div className="stack">
        <State job={job} repair={data} />
        {data.fields.map((field) => (
          <Field key={field.field ?? "items"} field={field} />
        ))}
      </div>
    </Card>
  );
}

const STATES = {
  open: { tone: "info", word: "Proposed" },
  accepted: { tone: "good", word: "Accepted" },
  rejected: { tone: "muted", word: "Rejected" },
  abstained: { tone: "warn", word: "No proposal" },
  outdated: { tone: "muted", word: "Outdated" },
} as const;

function State({ job, repair }: { job: Job; repair: JobRepair }) {
  const { tone, word } = STATES[repair.state];
  return (
    <p className="row">
      <Badge tone={tone}>{word}</Badge>
      <span>
        {repair.state === "accepted" ? (
          <>
            The job has had new rules since <Time at={repair.decided_at} />
            {repair.decided_by === null ? "" : `, accepted by ${actorText(repair.decided_by)}`}.{" "}
            <Link className="link" href={`/jobs/${job.id}/versions`}>
              Versions
            </Link>
          </>
        ) : (
          <Basis repair={repair} />
        )}
        {repair.state === "rejected" && repair.decided_by !== null
          ? ` Rejected by ${actorText(repair.decided_by)}.`
          : ""}
        {repair.reason === null ? "" : ` ${capital(repair.reason)}.`}
      </span>
    </p>
  );
}

/** What was compared and found; nothing if nothing could be compared. */
function Basis({ repair: { state, fields, pages, run_id: run } }: { repair: JobRepair }) {
  const all = pages.paired + pages.others;
  if (all === 0) return null;
  const found = fields.filter(({ new_rule: rule }) => rule !== null).length;
  return (
    <>
      {state === "abstained"
        ? "No new rule is right beyond doubt."
        : `${count(found, "new rule")} for ${count(fields.length, "broken field")}.`}{" "}
      Based on {count(all, "page")} of the{" "}
      <Link className="link" href={`/runs/${run}`}>
        degraded run
      </Link>
      ; {pages.paired} of them also have a copy from before.
    </>
  );
}

function Decide({ job, number }: { job: Job; number: number }) {
  const input = { params: { job_id: job.id }, query: { number } };
  const [reread, setReread] = useState(false);
  const accept = useChange("acceptJobRepair", {
    invalidates: OF_REPAIR,
    onSuccess: () =>
      toast(
        reread
          ? "The job has the new rules, and the degraded run has been read by them."
          : "The job has the new rules. Its next run uses them.",
      ),
    onError: toastError,
  });
  const reject = useChange("rejectJobRepair", {
    invalidates: OF_REPAIR,
    onSuccess: () => toast("Rejected: the rules stay as they are."),
    onError: toastError,
  });
  return (
    <>
      <Checkbox
        label="Read the degraded run again"
        title="Its kept pages are read by the new rules, and its records are replaced. Nothing is fetched."
        checked={reread}
        onChange={({ target }) => setReread(target.checked)}
      />
      <Button needs="rejectJobRepair" busy={reject.isPending} onClick={() => reject.mutate(input)}>
        Reject
      </Button>
      <Button
        kind="primary"
        icon="check"
        needs="acceptJobRepair"
        busy={accept.isPending}
        onClick={() => accept.mutate({ ...input, query: { number, reread } })}
      >
        Use the new rules
      </Button>
    </>
  );
}

function Field({ field }: { field: RepairedField }) {
  const name = field.field ?? "items";
  return (
    <section className="repair-field" aria-label={`Repair of ${name}`}>
      <h3 className="row">
        <code className="wrap">{name}</code>
        {field.confidence === null ? null : <span className="soft">Confidence {percent(field.confidence)}</span>}
      </h3>
      {field.reason === null ? null : <p className="wrap">Not repaired: {field.reason}</p>}
      <dl className="repair-rules">
        <div>
          <dt>Old rule</dt>
          <dd>
            <code className="wrap">{ruleText(field.old_rule)}</code>
          </dd>
        </div>
        {field.new_rule === null ? null : (
          <div>
            <dt>New rule</dt>
            <dd>
              <code className="wrap">{ruleText(field.new_rule)}</code>
            </dd>
          </div>
        )}
      </dl>
      {field.values.length === 0 ? null : <Values field={field} />}
    </section>
  );
}

function Values({ field: { values, new_rule: rule } }: { field: RepairedField }) {
  return (
    <div className="repair-scroll">
      <table className="repair-values">
        <thead>
          <tr>
            <th scope="col">Page</th>
            <th scope="col">Saved before</th>
            <th scope="col">Old rule, now</th>
            {rule === null ? null : <th scope="col">New rule, now</th>}
          </tr>
        </thead>
        <tbody>
          {values.map((value) => (
            <tr key={value.url}>
              <th scope="row">
                <a className="link wrap" href={value.url} title={value.url} target="_blank" rel="noreferrer noopener">
                  {shorten(pathOf(value.url), 60)}
                </a>
              </th>
              <td className="wrap">{value.saved === null ? "–" : shown(value.saved)}</td>
              <td className="wrap">{shown(value.before)}</td>
              {rule === null ? null : <td className="wrap">{shown(value.after)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const pathOf = (url: string) => {
  const parsed = URL.parse(url);
  return parsed === null ? url : parsed.pathname + parsed.search;
};

function shown(value: unknown): React.ReactNode {
  if (value === null || value === undefined) return <span className="repair-empty">empty</span>;
  return shorten(typeof value === "string" ? value : JSON.stringify(value), 120);
}
