import { useState } from "react";
import { Link } from "wouter";
import type { Crawl, Run } from "../../api/types.ts";
import { capital, count, fullNumber, rate, sentence, shorten } from "../../logic/format.ts";
import { atWorkWords, outcomeBesideCounts, progressWords, shownProgress, sinceWords } from "../../logic/run-page.ts";
import { describeReason } from "../../../../src/domain/health/describe-reason.ts";
import type { RunProgress } from "./logic/run-progress.ts";
import { skippedCount, skippedWords } from "./logic/skips.ts";
import { serverNow } from "../../logic/server-time.ts";
import { isActive } from "../../logic/states.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Card, Stat } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { Bytes, Duration, Time } from "../../ui/Values.tsx";
import { Kept } from "./Kept.tsx";
import { SignInHelp } from "./SignInHelp.tsx";
import { type RunSite, Waiting } from "./Waiting.tsx";

const TONES = { completed: "good", partial: "warn", failed: "bad", cancelled: "muted", paused: "muted" } as const;

/** Progress, and what blocks it. */
export function RunSummary({
  run,
  crawl,
  sites,
  progress,
}: {
  run: Run;
  crawl: Crawl | null;
  sites: readonly RunSite[];
  progress: RunProgress;
}) {
  const active = isActive(run.status);
  const tone = TONES[run.status as keyof typeof TONES] ?? "accent";
  const leftOut = crawl?.cancelled_items ?? 0;
  const far = shownProgress(run, progress.counts, leftOut);
  const words = progressWords({ ...progress, progress: far ?? 0, active, kind: run.kind, leftOut });
  return (
    <Card className="run-summary">
      <div className="run-summary-parts">
        <div className="run-progress">
          <div className="spread">
            <span className="row">
              <StatusBadge status={run.status} />
              <span className="num" aria-live="polite">
                {words}
              </span>
            </span>
            {far === null ? null : <strong className="num">{Math.floor(far)} %</strong>}
          </div>
          {far === null ? null : <Progress value={far} label="Progress of this run" tone={tone} />}
        </div>
        {run.kind === "page" ? <PageFacts run={run} /> : <Counts run={run} crawl={crawl} progress={progress} />}
        <div className="run-notes">
          <Warnings run={run} />
          <Degraded run={run} />
          <Waiting run={run} crawl={crawl} sites={sites} />
          <Ending run={run} />
          <Skipped run={run} skipped={crawl?.skipped ?? run.skipped} />
          <Kept run={run} />
        </div>
      </div>
    </Card>
  );
}

/** Probable mistakes, and how to fix them. */
function Warnings({ run }: { run: Run }) {
  const { id, warnings } = run;
  return warnings.map(({ code, message, follow }) => (
    <p key={code} className="run-note tone-warn" role="alert">
      <Icon name="warning" />
      <span className="wrap">
        {capital(message)}. {code === "sign_in" ? <SignInHelp run={run} /> : null}
        {follow === undefined || follow === null ? null : (
          <Link className="link" href={`/new?from=${id}&follow=${encodeURIComponent(follow)}`}>
            Run again with this pattern
          </Link>
        )}
      </span>
    </p>
  ));
}

/** Its records are worse than those of earlier runs. */
function Degraded({ run: { job_id, degraded } }: { run: Run }) {
  if (degraded === null) return null;
  return (
    <div className="run-note tone-warn" role="alert">
      <Icon name="warning" />
      <span className="wrap">
        <strong>Records degraded:</strong> {degraded.slice(0, REASONS_SHOWN).map(describeReason).join("; ")}
        {degraded.length > REASONS_SHOWN ? `; and ${degraded.length - REASONS_SHOWN} more` : ""}.{" "}
        {job_id === null ? null : (
          <Link className="link" href={`/jobs/${job_id}/quality${fieldQuery(degraded[0]?.field ?? null)}`}>
            Data quality
          </Link>
        )}
      </span>
    </div>
  );
}

const REASONS_SHOWN = 3;
const fieldQuery = (field: string | null) => (field === null ? "" : `?field=${encodeURIComponent(field)}`);

/** Found but not fetched. */
function Skipped({ run, skipped }: { run: Run; skipped: Run["skipped"] }) {
  const parts = skippedWords(skipped);
  if (parts.length === 0) return null;
  return (
    <p className="run-note tone-info run-skipped">
      <Icon name="info" />
      <span className="wrap">
        Found but not fetched: {parts.map(({ count, words }) => `${count} ${words}`).join(", ")}.{" "}
        {isActive(run.status) || !parts.some(({ reason }) => reason === "depth" || reason === "page_limit") ? null : (
          <Link className="link" href={`/new?from=${run.id}`}>
            Change the limits and run again
          </Link>
        )}
      </span>
    </p>
  );
}

function Ending({ run: { status, message, error_message, failure_reason } }: { run: Run }) {
  // While it is active its last message is the newest event.
  if (isActive(status)) return null;
  const text = error_message ?? outcomeBesideCounts(message);
  if (text === "") return null;
  const tone = status === "failed" ? "bad" : status === "partial" ? "warn" : "info";
  return (
    <p className={`run-note tone-${tone}`}>
      <Icon name={tone === "info" ? "info" : "warning"} />
      <span className="wrap">
        {failure_reason === null ? null : <strong>{sentence(failure_reason)}: </strong>}
        {text}
      </span>
    </p>
  );
}

function Counts({ run, crawl, progress }: { run: Run; crawl: Crawl | null; progress: RunProgress }) {
  const { counts, perSecond } = progress;
  const active = isActive(run.status);
  const worked = crawl?.duration_seconds ?? null;
  const until = run.finished_at === null ? serverNow() : Date.parse(run.finished_at);
  // While it is active its working time is only refreshed now and then.
  const slackMs = active ? 20_000 : 5000;
  const atWork = run.started_at === null ? null : atWorkWords(until - Date.parse(run.started_at), worked, slackMs);
  return (
    <div className="run-stats">
      {counts === null ? null : (
        <>
          <Stat name="Completed" value={fullNumber(counts.completed)} {...completedNote(crawl)} />
          <Stat
            name="Failed"
            value={fullNumber(counts.failed)}
            {...(counts.failed > 0 ? { tone: "bad" as const } : {})}
          />
          <Stat
            name={active ? "Queued" : "Skipped"}
            value={fullNumber(active ? counts.queued + counts.retrying : leftOutOf(counts.skipped, crawl))}
            {...(active && counts.retrying > 0 ? { note: `${fullNumber(counts.retrying)} retrying` } : {})}
          />
        </>
      )}
      <Stat
        name="Throughput"
        value={perSecond === null ? "–" : rate(perSecond)}
        note={active ? "right now" : "while running"}
      />
      {active && atWork !== null ? (
        // It was paused, waited, or had ended and was retried: that is not working time.
        <Stat name="Active for" value={<Duration ms={(worked ?? 0) * 1000} />} note={<Begun run={run} />} />
      ) : (
        <Stat
          name={active ? "Running for" : "Took"}
          value={<Duration since={run.started_at} until={run.finished_at} />}
          note={atWork ?? <Begun run={run} />}
        />
      )}
    </div>
  );
}

/** Known but unfinished plus found but not fetched: agrees with the reasons listed below. */
function leftOutOf(skippedTasks: number, crawl: Crawl | null): number {
  return skippedTasks + (crawl?.cancelled_items ?? 0) + skippedCount(crawl?.skipped ?? null);
}

function completedNote(crawl: Crawl | null): { note?: string } {
  const { unchanged_items: same = 0, followed_items: followed = 0, goal = null } = crawl ?? {};
  const notes = [
    goal === null ? [] : `${fullNumber(goal.relevant_pages)} relevant to the goal`,
    same === 0 ? [] : `${fullNumber(same)} unchanged`,
    followed === 0 ? [] : `${fullNumber(followed)} followed without a record`,
  ].flat();
  return notes.length === 0 ? {} : { note: notes.join(", ") };
}

function Begun({ run }: { run: Run }) {
  const at = run.started_at ?? run.created_at;
  if (isActive(run.status)) return sinceWords(Date.parse(at), serverNow());
  return (
    <>
      started <Time at={at} />
    </>
  );
}

/** Facts of a single page. */
function PageFacts({ run }: { run: Run }) {
  const { stats } = run;
  const number = (name: string) => (typeof stats[name] === "number" ? stats[name] : null);
  const because = run.strategy_evidence?.["because"];
  const final = typeof stats["final_url"] === "string" && stats["final_url"] !== run.url ? stats["final_url"] : null;
  return (
    <div className="run-stats">
      <Stat
        name="HTTP status"
        value={number("http_status") ?? "–"}
        {...(final === null ? {} : { note: <FinalAddress url={final} /> })}
      />
      <Stat
        name="Fetched by"
        value={run.resolved_strategy === null ? "–" : sentence(run.resolved_strategy)}
        {...(typeof because === "string" ? { note: because } : {})}
      />
      <Stat name="Size" value={<Bytes value={number("content_length")} />} />
      <Stat
        name="Attempts"
        value={run.attempt}
        {...(run.max_attempts === null ? {} : { note: `of ${run.max_attempts}` })}
      />
      <Stat
        name={isActive(run.status) ? "Running for" : "Took"}
        value={<Duration since={run.started_at} until={run.finished_at} />}
        note={<Begun run={run} />}
      />
    </div>
  );
}

/** Start URLs: a crawl may have many. */
function Starts({ run: { id, urls, url_count } }: { run: Run }) {
  const [isOpen, open] = useState(false);
  const shown = isOpen ? urls : urls.slice(0, STARTS_SHOWN);
  return (
    <>
      {shown.map((url, index) => (
        <span key={url}>
          {index === 0 ? "" : " · "}
          <a className="link wrap" href={url} title={url} target="_blank" rel="noreferrer noopener">
            {shorten(url, 90)}
          </a>
        </span>
      ))}
      {shown.length < urls.length ? (
        <>
          {" · "}
          <button type="button" className="link run-starts-more" onClick={() => open(true)}>
            {`${fullNumber(url_count - shown.length)} more start URLs`}
          </button>
        </>
      ) : url_count > urls.length ? (
        <>
          {" · "}
          <Link className="link" href={`/runs/${id}?tab=configuration`}>
            {`all ${fullNumber(url_count)} start URLs`}
          </Link>
        </>
      ) : null}
    </>
  );
}

/** The URL after redirects. */
function FinalAddress({ url }: { url: string }) {
  return (
    <>
      redirected to{" "}
      <a className="link wrap" href={url} title={url} target="_blank" rel="noreferrer noopener">
        {shorten(url, 60)}
      </a>
    </>
  );
}

const STARTS_SHOWN = 3;

/** The job or workflow a run comes from. */
export function Origin({ run }: { run: Run }) {
  return (
    <>
      <Starts run={run} />
      {run.job_id === null ? null : (
        <>
          {" · "}
          <Link className="link" href={`/runs?job=${run.job_id}`}>
            Other runs of this job
          </Link>
          {" · "}
          <Link className="link" href={`/jobs/${run.job_id}/quality`}>
            Data quality
          </Link>
          {run.monitor === null ? null : (
            <>
              {" · "}
              <Link className="link" href={`/jobs/${run.job_id}/changes?run=${run.id}`}>
                {count(run.monitor.new + run.monitor.changed + run.monitor.removed, "changed page")}
              </Link>
            </>
          )}
        </>
      )}
      {run.parent === null ? null : (
        <>
          {" · "}
          <Link className="link" href={`/workflows/${run.parent.run_id}`}>
            Part of a workflow
          </Link>
        </>
      )}
    </>
  );
}
