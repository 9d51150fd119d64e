import { useState } from "react";
import { Link, useParams, useSearchParams } from "wouter";
import { useCall, useChange, usePages } from "../../api/query.ts";
import type { Job, Operations } from "../../api/types.ts";
import { count } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Select } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, PageSkeleton, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import { nameOf } from "../jobs/job-names.ts";
import { Diff } from "./Diff.tsx";
import { LeftOutPlaces } from "./IgnoredPlaces.tsx";
import "./changes.css";

type Change = Operations["listJobChanges"]["answer"][number];
type Monitored = NonNullable<Job["monitor"]>["what"];

const TONES = { new: "good", changed: "warn", removed: "bad" } as const;
const NAMES = { new: "New", changed: "Changed", removed: "Removed" } as const;

/** What the monitor of a job found: every change of its pages, with the difference. */
export default function Changes() {
  const { id = "" } = useParams<{ id: string }>();
  const [search] = useSearchParams();
  const params = { job_id: id };
  const run = search.get("run");
  const job = useCall("getJob", { params });
  const query = { limit: 50, ...(run === null ? {} : { run_id: run }) };
  const changes = usePages("listJobChanges", { params, query });
  const back = { href: "/jobs", name: "Jobs" };
  const error = job.error ?? changes.error;
  if (job.data === undefined || changes.data === undefined) {
    if (error === null) return <PageSkeleton />;
    return (
      <>
        <PageHeader title="Changes" back={back} />
        <ErrorBox error={error} onRetry={() => void Promise.all([job.refetch(), changes.refetch()])} />
      </>
    );
  }
  const name = nameOf(job.data);
  const { rows } = changes;
  return (
    <div className="stack">
      <PageHeader
        title="Changes"
        documentTitle={`Changes of ${name}`}
        back={back}
        badge={<Badge>{name}</Badge>}
        note="Every run is compared with the last good one. Dates, counters and what a page changes on its own do not count."
        actions={
          <>
            <LinkButton href={`/runs?job=${id}`} icon="queue">
              Show runs
            </LinkButton>
            <LinkButton href={`/new?job=${id}`} icon="edit">
              Edit job
            </LinkButton>
          </>
        }
      />
      {run === null ? null : (
        <p>
          Only changes that one run found.{" "}
          <Link className="link" href={`/jobs/${id}/changes`}>
            Show all changes
          </Link>
        </p>
      )}
      {rows.length === 0 ? (
        <None job={job.data} />
      ) : (
        <Card flush>
          <ol className="changes">
            {rows.map((change, index) => (
              <Row key={change.number} job={job.data!} change={change} isFirst={index === 0} />
            ))}
          </ol>
        </Card>
      )}
      {changes.hasNextPage ? (
        <Button busy={changes.isFetchingNextPage} onClick={() => void changes.fetchNextPage()}>
          Show older changes
        </Button>
      ) : (
        <p className="soft">{count(rows.length, "change")}</p>
      )}
      {job.data.monitor === null ? null : <LeftOut job={job.data} />}
      <Settings job={job.data} />
    </div>
  );
}

function None({ job }: { job: Job }) {
  return (
    <Card>
      <EmptyState icon="half" title={job.monitor === null ? "Not monitored" : "No changes yet"}>
        {job.monitor === null
          ? "Choose below what to compare. The next run is the first measure."
          : "The first run is the measure. Later runs are compared with the last good one."}
      </EmptyState>
    </Card>
  );
}

function Row({ job, change, isFirst }: { job: Job; change: Change; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst);
  const panel = `change-${change.number}`;
  return (
    <li className="change">
      <button
        type="button"
        className="change-toggle"
        aria-expanded={isOpen}
        aria-controls={panel}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? "chevron" : "right"} size={14} />
        <Badge tone={TONES[change.change]}>{NAMES[change.change]}</Badge>
        <span className="change-page">{change.url}</span>
        <span className="soft">
          <Time at={change.found_at} />
        </span>
        {change.summary === null ? null : <span className="change-summary">{change.summary}</span>}
      </button>
      <div id={panel} hidden={!isOpen}>
        {isOpen ? <Details job={job} change={change} /> : null}
      </div>
    </li>
  );
}

function Details({ job, change }: { job: Job; change: Change }) {
  const { data, error, refetch } = useCall("getJobChange", { params: { job_id: job.id, number: change.number } });
  const save = useMonitor();
  const { monitor } = job;
  const watched = monitor?.watch ?? [];
  const watch = (place: string) => {
    if (monitor !== null) save.mutate(bodyOf(job, { ...monitor, watch: [...watched, place] }));
  };
  if (data === undefined)
    return error === null ? <Skeleton lines={3} /> : <ErrorBox error={error} onRetry={() => void refetch()} />;
  return (
    <div className="stack change-details">
      <p className="soft">
        <a className="link" href={change.url} target="_blank" rel="noreferrer noopener">
          Open the page
        </a>
        {" · "}
        <Link className="link" href={`/runs/${change.run_id}`}>
          Run
        </Link>
        {change.previous_at === null ? null : (
          <>
            {" · compared with "}
            <Time at={change.previous_at} />
          </>
        )}
      </p>
      <Diff job={job.id} change={data} watched={watched} onWatch={watch} />
    </div>
  );
}

const CHOICES: Readonly<Record<Monitored | "none", string>> = {
  none: "Nothing",
  text: "The text of the page",
  markdown: "The main content, with links and images",
  fields: "The fields that the job reads",
  links: "The links of the page",
  screenshot: "A screenshot",
};

function useMonitor() {
  return useChange("changeJob", {
    invalidates: ["getJob", "listJobs", "listIgnoredPlaces"],
    onSuccess: () => toast("Saved. It applies from the next run on."),
    onError: toastError,
  });
}

/** What is left out at present, also where nothing else has changed. */
function LeftOut({ job }: { job: Job }) {
  const places = usePages("listIgnoredPlaces", { params: { job_id: job.id }, query: { limit: 20 } });
  const save = useMonitor();
  const { monitor } = job;
  const watched = monitor?.watch ?? [];
  const watch = (place: string) => {
    if (monitor !== null) save.mutate(bodyOf(job, { ...monitor, watch: [...watched, place] }));
  };
  // Of a large crawl, the pages with such places may come later.
  if (places.rows.length === 0 && !places.hasNextPage) return null;
  return (
    <Card title="Left out as noise">
      <div className="stack">
        <p className="soft">These places change on their own, besides dates, counters and ids.</p>
        {places.rows.map((page) => (
          <LeftOutPlaces key={page.url} page={page} watched={watched} onWatch={watch} />
        ))}
        {places.hasNextPage ? (
          <Button busy={places.isFetchingNextPage} onClick={() => void places.fetchNextPage()}>
            Show more pages
          </Button>
        ) : null}
      </div>
    </Card>
  );
}

const bodyOf = (job: Job, monitor: Job["monitor"]) => ({ params: { job_id: job.id }, body: { monitor } });

/** What is compared; patterns and limits are set by the API and the command line. */
function Settings({ job }: { job: Job }) {
  const change = useMonitor();
  const { monitor } = job;
  const hasPicture = (job.document?.formats ?? []).some((format) => format.startsWith("screenshot"));
  const choices = Object.entries(CHOICES)
    .filter(([value]) => value !== "screenshot" || hasPicture || monitor?.what === "screenshot")
    .map(([value, name]) => ({ value, name }));
  const choose = (value: string) => {
    // Patterns for elements mean nothing for fields, and the other way round.
    const isAlike = monitor !== null && (monitor.what === "fields") === (value === "fields") && value !== "screenshot";
    const kept = monitor === null ? {} : { ...monitor, key: null, watch: [], ...(isAlike ? {} : { ignore: [] }) };
    const next = value === "none" ? null : { ...kept, what: value as Monitored };
    change.mutate({ params: { job_id: job.id }, body: { monitor: next } });
  };
  const watched = monitor?.watch ?? [];
  const unwatch = (place: string) => {
    if (monitor !== null) change.mutate(bodyOf(job, { ...monitor, watch: watched.filter((one) => one !== place) }));
  };
  return (
    <Card title="What is compared">
      <div className="stack">
        <Select
          label="Compare"
          value={monitor?.what ?? "none"}
          needs="changeJob"
          disabled={change.isPending}
          onChange={({ target }) => choose(target.value)}
          choices={choices}
        />
        {monitor === null || monitor.ignore.length === 0 ? null : (
          <p className="soft">
            Ignored: <code>{monitor.ignore.join(", ")}</code>
          </p>
        )}
        {watched.length === 0 ? null : (
          <div>
            <p className="soft">These places count, although they change on their own:</p>
            <ul className="watched">
              {watched.map((place) => (
                <li key={place}>
                  <code>{place}</code>
                  <Button
                    size="small"
                    disabled={change.isPending}
                    aria-label={`Ignore again: changes of ${place}`}
                    onClick={() => unwatch(place)}
                  >
                    Ignore again
                  </Button>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Card>
  );
}
