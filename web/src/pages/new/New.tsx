import { type KeyboardEvent, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useCall } from "../../api/query.ts";
import { EMPTY, type Form, type Kind } from "./logic/new-form.ts";
import { formOf } from "./logic/new-prefill.ts";
import type { Json } from "./logic/new-values.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Segmented } from "../../ui/Field.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { Tabs } from "../../ui/Tabs.tsx";
import { Conflict } from "./Conflict.tsx";
import { useLearn } from "./learn/useLearn.ts";
import { PageFields } from "./PageFields.tsx";
import { Playground } from "./Playground.tsx";
import { JobFields, SaveJob } from "./SaveJob.tsx";
import { Snippets } from "./Snippets.tsx";
import { type NewState, useNew } from "./useNew.ts";
import type { FetchedPage } from "./usePreview.ts";
import { TestRules } from "./TestRules.tsx";
import { WorkflowFields } from "./WorkflowFields.tsx";
import "./new.css";

const KINDS = [
  { value: "crawl", name: "Crawl" },
  { value: "scrape", name: "Page" },
  { value: "workflow", name: "Workflow" },
];
const VERBS: Readonly<Record<Kind, string>> = {
  crawl: "Start crawl",
  scrape: "Scrape page",
  workflow: "Start workflow",
};
const STARTS = { crawl: "startCrawl", scrape: "startPage", workflow: "createWorkflow" } as const;
const NOTES: Readonly<Record<Kind, string>> = {
  crawl: "Follows the links of a site and reads every page.",
  scrape: "Reads one page.",
  workflow: "Runs steps that depend on each other: crawl, download, clean up, export.",
};

/**
 * Starts a run or saves a job; `?from=` clones a run, `?job=` edits a saved job, `?url=` and `?template=` fill in the
 * form.
 */
export default function New() {
  const [search] = useSearchParams();
  const job = search.get("job");
  const from = search.get("from");
  if (job !== null) return <OfJob key={job} id={job} />;
  if (from !== null) return <OfRun key={from} id={from} />;
  return <NewPage key={`${search.get("url")} ${search.get("template")}`} first={EMPTY} job={null} />;
}

function OfJob({ id }: { id: string }) {
  const job = useCall("getJob", { params: { job_id: id } }, { staleTime: Infinity });
  if (job.error !== null) return <Failed error={job.error} onRetry={() => void job.refetch()} title="Edit job" />;
  if (job.data === undefined) return <PageSkeleton />;
  const { crawl, header_names: own, cookie_names: cookies } = job.data;
  const headers = crawl?.header_names ?? own;
  const first = formOf(job.data as unknown as Json);
  return <NewPage first={first} job={id} version={job.data.version} kept={[...headers, ...cookies]} />;
}

function OfRun({ id }: { id: string }) {
  const run = useCall("getRunRecipe", { params: { run_id: id } }, { staleTime: Infinity });
  if (run.error !== null) return <Failed error={run.error} onRetry={() => void run.refetch()} title="New" />;
  if (run.data === undefined) return <PageSkeleton />;
  const { recipe, header_names: headers, cookie_names: cookies } = run.data;
  return <NewPage first={formOf(recipe as Json)} job={null} lost={[...headers, ...cookies]} />;
}

function Failed({ error, onRetry, title }: { error: unknown; onRetry: () => void; title: string }) {
  return (
    <>
      <PageHeader title={title} />
      <ErrorBox error={error} onRetry={onRetry} />
    </>
  );
}

interface Props {
  first: Form;
  job: string | null;
  /** The job's version when it was opened. */
  version?: string;
  /** Stored headers and cookies of the job, which stay unless replaced. */
  kept?: readonly string[];
  /** Headers and cookies of the run that are no longer stored. */
  lost?: readonly string[];
}

function NewPage({ first, job, version = "", kept = [], lost = [] }: Props) {
  const [search, setSearch] = useSearchParams();
  // Parameters of the URL are part of the form's name: a draft of another form must not replace them.
  const [name] = useState(() => {
    const parts = ["job", "from", "url", "template"].map((key) => `${key}=${search.get(key) ?? ""}`);
    return parts.filter((part) => !part.endsWith("=")).join("&");
  });
  const [opened] = useState(() => (job === null ? null : { id: job, version }));
  const state = useNew(first, opened, name);
  const { form, draft } = state;
  const [page, setPage] = useState<FetchedPage | null>(null);
  const learn = useLearn();
  const put = (key: string, value: string) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        next.set(key, value);
        return next;
      },
      { replace: true },
    );
  const setUp = () => (
    <div className="new-columns">
      <form
        className="stack"
        noValidate
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={(event) => {
          if (isSend(event)) void (job === null ? state.start() : state.save({ run: false }));
        }}
      >
        {kept.length === 0 ? null : (
          <p className="new-hint">
            Stored headers and cookies, used unless you enter new ones: <span className="mono">{kept.join(", ")}</span>
          </p>
        )}
        {lost.length === 0 ? null : (
          <p className="new-hint">
            Not copied, because they are secret: <span className="mono">{lost.join(", ")}</span>. Enter them again under
            “More options”.
          </p>
        )}
        {job === null ? null : (
          <Card title="Job">
            <JobFields state={state} />
          </Card>
        )}
        {form.kind === "workflow" ? (
          <WorkflowFields state={state} />
        ) : (
          <PageFields state={state} job={job} onPlayground={() => put("tab", "playground")} />
        )}
        {learn.isUnused ? (
          <p className="new-hint">
            The examples in the playground are not used: learn their rules there and press “Use these rules”.
          </p>
        ) : null}
        <Actions state={state} job={job} />
      </form>
      <aside className="new-aside">
        <Snippets form={form} job={job} read={state.checked.source} />
      </aside>
    </div>
  );
  const playground = () => (
    <div className="stack">
      <Playground state={state} at={{ page, setPage }} learn={learn} />
      {search.get("mode") === "examples" && learn.isUnused ? null : <Actions state={state} job={job} />}
    </div>
  );
  return (
    <>
      <PageHeader
        title={job === null ? "New" : "Edit job"}
        note={NOTES[form.kind]}
        {...(job === null ? {} : { back: { href: "/jobs", name: "Jobs" } })}
        actions={
          job === null ? (
            <Segmented label="Kind of run" value={form.kind} choices={KINDS} onChange={(kind) => put("kind", kind)} />
          ) : undefined
        }
      />
      {draft === null ? null : (
        <div className="row new-draft" role="status">
          <span>
            Draft restored.
            {draft.dropped ? " Headers, cookies and possible passwords were not kept." : ""}
          </span>
          <Button size="small" kind="quiet" onClick={draft.discard}>
            Discard
          </Button>
        </div>
      )}
      {form.kind === "workflow" ? (
        setUp()
      ) : (
        <Tabs
          label="New"
          tabs={[
            { id: "setup", name: "Set up", panel: setUp },
            { id: "playground", name: "Playground", panel: playground },
          ]}
        />
      )}
    </>
  );
}

/** Enter in a single-line field, Ctrl+Enter anywhere; not inside a dialog. */
function isSend({ key, ctrlKey, metaKey, target }: KeyboardEvent): boolean {
  if (key !== "Enter" || !(target instanceof HTMLElement) || target.closest("dialog") !== null) return false;
  const isLine = target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "radio";
  return isLine || ctrlKey || metaKey;
}

function Actions({ state, job }: { state: NewState; job: string | null }) {
  const [, go] = useLocation();
  const { form, busy, failure, conflict } = state;
  return (
    <>
      {failure === null ? null : <ErrorBox error={failure} />}
      {conflict === null ? null : <Conflict conflict={conflict} />}
      <div className="row new-actions">
        {job === null ? (
          <>
            <Button
              kind="primary"
              icon="runs"
              needs={STARTS[form.kind]}
              busy={busy === "start"}
              onClick={() => void state.start()}
            >
              {VERBS[form.kind]}
            </Button>
            <SaveJob state={state} />
          </>
        ) : (
          <>
            <Button
              kind="primary"
              needs="changeJob"
              busy={busy === "save"}
              onClick={() => void state.save({ run: false })}
            >
              Save changes
            </Button>
            <Button needs="startRun" disabled={busy !== null} onClick={() => void state.save({ run: true })}>
              Save and run now
            </Button>
            {form.kind === "workflow" ? null : <TestRules form={form} job={job} />}
            <Button kind="quiet" onClick={() => go("/jobs")}>
              Discard changes
            </Button>
          </>
        )}
      </div>
    </>
  );
}
