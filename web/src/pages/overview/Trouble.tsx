/** Problems and resources: the lists below the charts. */
import { Link } from "wouter";
import { bytes, count, percent, plainUrl, sentence, shortNumber } from "../../logic/format.ts";
import { type LiveOverview, noFailuresWords, sitesTitle, workerWords } from "../../logic/overview.ts";
import { Badge } from "../../ui/Badge.tsx";
import { LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Meter } from "../../ui/chart/Progress.tsx";
import { Waiting } from "../sites/Waiting.tsx";
import { StorageGauge } from "./Storage.tsx";

const TROUBLE = {
  breaker_open: { word: "Circuit open", tone: "bad", reason: "circuit_open" },
  failing: { word: "Failing", tone: "bad", reason: "" },
  held: { word: "Rate limited", tone: "warn", reason: "rate_limited" },
  paused: { word: "Paused", tone: "neutral", reason: "" },
} as const;

/** A quiet line instead of an empty box: no problems is good news. */
function Fine({ children }: { children: string }) {
  return (
    <p className="fine">
      <Icon name="check" />
      {children}
    </p>
  );
}

export function TroubledSites({ sites }: { sites: LiveOverview["troubled_sites"] }) {
  return (
    <Card
      title={sitesTitle(sites)}
      flush
      actions={
        <LinkButton href="/sites" kind="quiet" size="small">
          All sites
        </LinkButton>
      }
    >
      {sites.length === 0 ? (
        <Fine>No site has an open circuit, fails or is rate limited.</Fine>
      ) : (
        <ul className="lines">
          {sites.slice(0, 6).map(({ site, trouble, message, until, waiting, error_rate }) => (
            <li key={site}>
              <div className="line-main">
                <Link href={`/sites/${encodeURIComponent(site)}`} className="truncate line-name">
                  {site}
                </Link>
                <span className="line-note wrap">
                  <Waiting waiting={{ message, until, reason: TROUBLE[trouble].reason }} />
                </span>
              </div>
              <div className="line-end">
                <Badge tone={TROUBLE[trouble].tone}>{TROUBLE[trouble].word}</Badge>
                <span className="soft num">
                  {waiting > 0
                    ? `${count(waiting, "page")} queued`
                    : error_rate === null
                      ? ""
                      : `${percent(error_rate)} of requests failed`}
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

export function RecentFailures({ failures, troubled_sites }: Pick<LiveOverview, "failures" | "troubled_sites">) {
  return (
    <Card
      title="Recent failures"
      flush
      actions={
        <LinkButton href="/runs?status=failed" kind="quiet" size="small">
          Failed runs
        </LinkButton>
      }
    >
      {failures.length === 0 ? (
        <Fine>{noFailuresWords(troubled_sites)}</Fine>
      ) : (
        <ul className="lines">
          {failures.slice(0, 6).map(({ failure_reason, failure_code, count: times, example }) => (
            <li key={`${failure_code} ${failure_reason}`}>
              <div className="line-main">
                <Link
                  href={`/runs/${example.run_id}?tab=errors`}
                  className="truncate line-name"
                  title={`${failure_code}, ${failure_reason}`}
                >
                  {sentence(failure_reason)}
                </Link>
                <span className="line-note two-lines" title={example.message}>
                  {example.url === null ? example.message : plainUrl(example.url)}
                </span>
              </div>
              <div className="line-end">
                <span className="line-count num">{shortNumber(times)}×</span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

export function Machine({ overview }: { overview: LiveOverview }) {
  const { workers, memory, disk } = overview;
  return (
    <Card
      title="Workers and machine"
      actions={
        <LinkButton href="/workers" kind="quiet" size="small">
          Workers
        </LinkButton>
      }
    >
      <ul className="gauges">
        <li>
          <div className="spread">
            <span>Workers</span>
            <span className="num">{workerWords(workers)}</span>
          </div>
          <Meter
            part={workers.capacity === 0 ? 0 : workers.in_flight / workers.capacity}
            label="Share of worker slots in use"
            warnAt={2}
          />
          <span className="soft">
            {shortNumber(workers.in_flight)} of {shortNumber(workers.capacity)} slots in use
          </span>
        </li>
        <li>
          <div className="spread">
            <span>Memory</span>
            <span className="num">{bytes(memory.used_bytes)}</span>
          </div>
          {memory.limit_bytes === null ? (
            <span className="soft">no limit is set (APP_MAX_MEMORY_MB)</span>
          ) : (
            <>
              <Meter part={memory.used_bytes / memory.limit_bytes} label="Share of the memory limit in use" />
              <span className="soft">of {bytes(memory.limit_bytes)}</span>
            </>
          )}
        </li>
        <StorageGauge />
        {disk.map(({ what, free_bytes, least_free_bytes }) => (
          <li key={what}>
            <div className="spread">
              <span>Disk: {what}</span>
              <span className={free_bytes < least_free_bytes ? "num run-failed" : "num"}>{bytes(free_bytes)} free</span>
            </div>
            <span className="soft">new work stops below {bytes(least_free_bytes)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
