import { Link } from "wouter";
import type { Site } from "../../api/types.ts";
import { count, percent, rate, sentence } from "../../logic/format.ts";
import { SITE_LIMITS, type SiteLimit } from "../../logic/limits.ts";
import { errorShares, limitName, siteHref, type SiteSeries } from "../../logic/sites.ts";
import { ALWAYS } from "../../logic/table.ts";
import { Badge, StatusBadge } from "../../ui/Badge.tsx";
import { EditableNumber } from "../../ui/table/EditableNumber.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/overlay/Menu.tsx";
import { Sparkline } from "../../ui/chart/Sparkline.tsx";
import type { Column } from "../../ui/table/Table.tsx";
import { Duration, Num, Percent, Time } from "../../ui/Values.tsx";
import type { SiteActions } from "./useSites.ts";
import { Waiting } from "./Waiting.tsx";

type Series = Readonly<Record<string, SiteSeries>>;

export function siteColumns(series: Series, actions: SiteActions): Column<Site>[] {
  const limit = (key: SiteLimit, name: string, width: string, inherited: (site: Site) => string): Column<Site> => ({
    id: key,
    name,
    width,
    align: "end",
    sort: (row) => row[key],
    cell: (row) => (
      <EditableNumber
        label={`${limitName(key)} of ${row.site}`}
        value={row[key]}
        inherited={inherited(row)}
        rule={SITE_LIMITS[key]}
        needs="changeSite"
        onSave={(value) => actions.setLimit(row.site, key, value, row[key])}
      />
    ),
  });
  return [
    {
      id: "site",
      name: "Site",
      width: "minmax(172px, 3fr)",
      phone: "head",
      sort: ({ site }) => site,
      cell: (row) => (
        <div className="site-name">
          <Link href={siteHref(row.site)} className="truncate site-link" title={row.site}>
            {row.site}
          </Link>
          <span className="two-lines soft site-why" title={row.waiting_for?.message}>
            {row.waiting_for === null ? (
              row.group === null ? (
                <>
                  Last good page <Time at={row.last_success_at} />
                </>
              ) : (
                `Group ${row.group}`
              )
            ) : (
              <Waiting waiting={row.waiting_for} short />
            )}
          </span>
        </div>
      ),
    },
    {
      id: "state",
      name: "State",
      width: "118px",
      priority: 9,
      sort: ({ state }) => state,
      cell: ({ state }) => <StatusBadge status={state} />,
    },
    {
      id: "throughput",
      name: "Pages per second",
      width: "124px",
      priority: 8,
      sort: ({ pages_per_second }) => pages_per_second,
      cell: ({ site, pages_per_second }) => (
        <span className="site-trend">
          <Sparkline
            values={series[site]?.good ?? []}
            label={`Pages per second at ${site}`}
            width={56}
            height={22}
            say={rate}
          />
          <span className="num">{rate(pages_per_second)}</span>
        </span>
      ),
    },
    {
      id: "errors",
      name: "Error rate",
      width: "108px",
      priority: 8,
      sort: ({ error_rate }) => error_rate,
      cell: ({ site, error_rate }) => {
        const siteSeries = series[site];
        return (
          <span className="site-trend">
            <Sparkline
              values={siteSeries === undefined ? [] : errorShares(siteSeries)}
              label={`Error rate of ${site}`}
              width={48}
              height={22}
              tone={(error_rate ?? 0) >= 0.2 ? "bad" : "muted"}
              say={percent}
            />
            <span className={(error_rate ?? 0) >= 0.2 ? "site-bad" : ""}>
              <Percent value={error_rate} />
            </span>
          </span>
        );
      },
    },
    {
      id: "open",
      name: "In flight / queued",
      width: "112px",
      align: "end",
      priority: 7,
      sort: ({ counts }) => counts.running + counts.queued + counts.retrying,
      cell: ({ counts }) => (
        <>
          <Num value={counts.running} />
          <span className="soft"> / </span>
          <Num value={counts.queued + counts.retrying} />
        </>
      ),
    },
    {
      id: "breaker",
      name: "Breaker",
      width: "96px",
      phone: "hide",
      sort: ({ breaker }) => breaker.state,
      cell: ({ breaker }) =>
        breaker.state === "closed" ? (
          <span className="soft" title={breakerTitle(breaker)}>
            Closed
          </span>
        ) : (
          <StatusBadge status={breaker.state} title={breakerTitle(breaker)} />
        ),
    },
    limit("max_concurrency", "Concurrency", "82px", ({ effective }) => String(effective.max_concurrency)),
    limit("requests_per_second", "Rate /s", "76px", ({ effective }) => perSecond(effective.requests_per_second)),
    limit("min_delay_ms", "Delay ms", "78px", ({ effective }) => String(effective.min_delay_ms)),
    {
      id: "learned",
      name: "Learned strategy",
      width: "124px",
      hidden: true,
      sort: ({ learned_strategy }) => learned_strategy?.strategy,
      cell: ({ learned_strategy }) =>
        learned_strategy === null ? (
          <span className="soft">–</span>
        ) : (
          <Badge tone="info" title={learned_strategy.reason}>
            {sentence(learned_strategy.strategy)}
          </Badge>
        ),
    },
    {
      id: "completed",
      name: "Completed pages",
      width: "112px",
      align: "end",
      hidden: true,
      sort: ({ counts }) => counts.completed,
      cell: ({ counts }) => <Num value={counts.completed} />,
    },
    {
      id: "failed",
      name: "Failed pages",
      width: "84px",
      align: "end",
      hidden: true,
      sort: ({ counts }) => counts.failed,
      cell: ({ counts }) => <Num value={counts.failed} />,
    },
    {
      id: "p95",
      name: "Response time (p95)",
      width: "130px",
      align: "end",
      hidden: true,
      sort: ({ latency_ms }) => latency_ms.p95,
      cell: ({ latency_ms }) => <Duration ms={latency_ms.p95} />,
    },
    {
      id: "actions",
      name: "Actions",
      head: <span className="spoken">Actions</span>,
      width: "36px",
      priority: ALWAYS,
      align: "end",
      cell: (row) => <SiteMenu site={row} actions={actions} />,
    },
  ];
}

export function perSecond(value: number | null): string {
  return value === null ? "no limit" : String(value);
}

export function breakerTitle({ failures }: Site["breaker"]): string {
  return failures === 0 ? "No consecutive failures" : count(failures, "consecutive failure");
}

function SiteMenu({ site, actions }: { site: Site; actions: SiteActions }) {
  return (
    <Menu
      label={`Actions for ${site.site}`}
      trigger={<Icon name="more" />}
      className="button button-quiet button-small button-icon"
      items={[
        site.paused
          ? { name: "Resume", icon: "runs", needs: "resumeSite", onChoose: () => actions.resume(site.site) }
          : { name: "Pause", icon: "pause", needs: "pauseSite", onChoose: () => actions.pause(site.site) },
        {
          name: "Reset breaker",
          icon: "bolt",
          needs: "resetBreaker",
          disabled: site.breaker.state === "closed" && site.breaker.failures === 0,
          onChoose: () => actions.resetBreaker(site.site),
        },
        {
          name: "Forget learned strategy",
          icon: "retry",
          needs: "forgetLearnedStrategy",
          disabled: site.learned_strategy === null,
          onChoose: () => actions.forget(site.site),
        },
      ]}
    />
  );
}
