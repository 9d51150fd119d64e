import { Suspense } from "react";
import { useParams } from "wouter";
import { part } from "../../app/part.ts";
import { useCall } from "../../api/query.ts";
import type { Site as SiteAnswer } from "../../api/types.ts";
import { capital, count, percent, rate, sentence, shortNumber } from "../../logic/format.ts";
import { siteFromPath, timesOf } from "../../logic/sites.ts";
import { failureFacts } from "../../logic/waiting.ts";
import { Badge, StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, KeyValue, Stat, StatRow } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton, Skeleton } from "../../ui/States.tsx";
import { Duration, Time } from "../../ui/Values.tsx";
import { breakerTitle } from "./columns.tsx";
import { Robots } from "./Robots.tsx";
import { SiteForm } from "./SiteForm.tsx";
import { RecentFailures, SiteRuns } from "./SiteRuns.tsx";
import { type SiteActions, useLiveSites, useSiteActions } from "./useSites.ts";
import { Waiting } from "./Waiting.tsx";
import "./sites.css";

const Chart = part(async () => ({ default: (await import("../../ui/chart/Chart.tsx")).Chart }));

/** Everything about one site. */
export default function Site() {
  const site = siteFromPath(useParams<{ site: string }>().site);
  const query = useCall("getSite", { params: { site } }, { refetchInterval: 5000 });
  useLiveSites();
  const actions = useSiteActions();
  const { data } = query;
  const back = { href: "/sites", name: "Sites" };
  if (data === undefined)
    return (
      <>
        <PageHeader title={site} back={back} />
        {query.error === null ? (
          <PageSkeleton />
        ) : (
          <ErrorBox error={query.error} onRetry={() => void query.refetch()} />
        )}
      </>
    );
  return (
    <>
      <PageHeader
        title={site}
        back={back}
        badge={<StatusBadge status={data.state} />}
        actions={
          <>
            {data.breaker.state === "closed" ? null : (
              <Button icon="bolt" needs="resetBreaker" onClick={() => actions.resetBreaker(site)}>
                Reset breaker
              </Button>
            )}
            {data.paused ? (
              <Button kind="primary" icon="runs" needs="resumeSite" onClick={() => actions.resume(site)}>
                Resume
              </Button>
            ) : (
              <Button icon="pause" needs="pauseSite" onClick={() => actions.pause(site)}>
                Pause
              </Button>
            )}
          </>
        }
      />
      <div className="stack">
        {data.waiting_for === null ? null : (
          <div className={data.state === "active" ? "site-notice site-notice-calm" : "site-notice"} role="status">
            <Icon name="clock" />
            <p className="wrap">
              <Waiting waiting={data.waiting_for} />
            </p>
          </div>
        )}
        <Figures site={data} />
        <Pace site={site} />
        <div className="site-columns">
          <div className="stack">
            <SiteForm key={site} site={data} actions={actions} />
            <RecentFailures site={site} />
          </div>
          <div className="stack">
            <Facts site={data} actions={actions} />
            <Robots site={site} />
          </div>
        </div>
        <SiteRuns site={site} />
      </div>
    </>
  );
}

function Figures({ site: { counts, pages_per_second, error_rate, latency_ms } }: { site: SiteAnswer }) {
  const bad = error_rate ?? 0;
  return (
    <StatRow>
      <Stat name="Throughput" value={rate(pages_per_second)} note="good pages" />
      <Stat
        name="Error rate"
        value={error_rate === null ? "–" : percent(error_rate)}
        note="of requests, last 10 min, retries included"
        {...(bad >= 0.5 ? { tone: "bad" as const } : bad >= 0.2 ? { tone: "warn" as const } : {})}
      />
      <Stat name="In flight" value={shortNumber(counts.running)} note="right now" />
      <Stat
        name="Queued"
        value={shortNumber(counts.queued + counts.retrying)}
        note={counts.retrying === 0 ? "pages" : `${shortNumber(counts.retrying)} of them to retry`}
      />
      <Stat
        name="Completed pages"
        value={shortNumber(counts.completed)}
        note={`${shortNumber(counts.failed)} failed permanently`}
      />
      <Stat
        name="Response time"
        value={<Duration ms={latency_ms.p50} />}
        note={
          latency_ms.p95 === null ? (
            "median; not measured recently"
          ) : (
            <>
              median; 95 % within <Duration ms={latency_ms.p95} />
            </>
          )
        }
      />
    </StatRow>
  );
}

function Pace({ site }: { site: string }) {
  const { data } = useCall("getSiteSeries", { query: { site } }, { refetchInterval: 10_000 });
  const series = data?.[site];
  return (
    <Card title="Pages per second">
      {data === undefined ? (
        <Skeleton lines={1} height={150} />
      ) : series === undefined ? (
        <p className="soft">No page finished here within the last hour.</p>
      ) : (
        <Suspense fallback={<Skeleton lines={1} height={150} />}>
          <Chart
            label={`Pages per second at ${site} in the last hour`}
            times={timesOf(series)}
            height={150}
            say={rate}
            series={[
              { name: "Good", colour: 1, values: series.good, area: true },
              { name: "Failed", colour: 2, values: series.bad },
            ]}
          />
        </Suspense>
      )}
    </Card>
  );
}

function Facts({ site, actions }: { site: SiteAnswer; actions: SiteActions }) {
  const { breaker, learned_strategy: learned, effective } = site;
  return (
    <Card title="Fetching">
      <KeyValue
        pairs={[
          {
            name: "Circuit breaker",
            value: (
              <div className="row">
                <StatusBadge status={breaker.state} />
                <span className="soft">
                  {breakerTitle(breaker)}
                  {breaker.reopens_at === null ? null : (
                    <>
                      , next probe <Time at={breaker.reopens_at} />
                    </>
                  )}
                </span>
              </div>
            ),
          },
          {
            name: "Learned strategy",
            value:
              learned === null ? (
                <span className="soft">Default: plain requests first</span>
              ) : (
                <div className="spread">
                  <span>
                    <Badge tone="info">{sentence(learned.strategy)}</Badge>{" "}
                    <span className="soft">
                      {learned.reason}; expires <Time at={learned.expires_at} />
                    </span>
                  </span>
                  <Button size="small" needs="forgetLearnedStrategy" onClick={() => actions.forget(site.site)}>
                    Forget
                  </Button>
                </div>
              ),
          },
          { name: "Limits", value: inForce(effective) },
          { name: "Last good page", value: <Time at={site.last_success_at} /> },
          site.last_failure === null
            ? null
            : {
                name: "Last failure",
                value: (
                  <span className="wrap">
                    {capital(site.last_failure.message)} <span className="soft">{failureFacts(site.last_failure)}</span>
                  </span>
                ),
              },
          site.held_until === null
            ? null
            : {
                name: "Rate limited until",
                value: (
                  <>
                    <Time at={site.held_until} /> <span className="soft">requested by the site</span>
                  </>
                ),
              },
          { name: "First seen", value: <Time at={site.first_seen_at} /> },
        ]}
      />
    </Card>
  );
}

function inForce({
  max_concurrency,
  requests_per_second,
  min_delay_ms,
  shards,
  respect_robots,
}: SiteAnswer["effective"]) {
  const parts = [
    `${count(max_concurrency, "request")} in flight`,
    requests_per_second === null ? null : `${shortNumber(requests_per_second)} per second`,
    min_delay_ms === 0 ? "no delay" : `${shortNumber(min_delay_ms)} ms delay`,
    shards === 1 ? null : `${shards} shards`,
    respect_robots ? "obeys robots.txt" : "ignores robots.txt",
  ];
  return parts.filter((part) => part !== null).join(", ");
}
