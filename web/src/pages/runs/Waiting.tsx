import { Link } from "wouter";
import type { Answer } from "../../api/client.ts";
import type { Crawl, Run } from "../../api/types.ts";
import { exactTime } from "../../logic/format.ts";
import { serverNow } from "../../logic/server-time.ts";
import { splitSite, type WaitingSite, waitingSites } from "../../logic/run-page.ts";
import { siteHref } from "../../logic/sites.ts";
import { isActive } from "../../logic/states.ts";
import { isHeld } from "../../logic/waiting.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Waiting as Words } from "../sites/Waiting.tsx";

export type RunSite = Answer<"listRunSites">[number];

/** What blocks a run, until when, and where to change that; or what paces it. */
export function Waiting({ run, crawl, sites }: { run: Run; crawl: Crawl | null; sites: readonly RunSite[] }) {
  const { waiting_for: waits, status } = run;
  // `NeedsYou` shows what a person has to do.
  if (status === "waiting_for_human" || !isActive(status)) return null;
  if (waits !== null && isHeld(waits)) return <Note waiting={[{ ...waits, ...splitSite(waits.message) }]} />;
  const { held, paced } = waitingSites(sites);
  // Blocked sites may follow others in a long list.
  const all = held.length > 0 ? held : waitingSites(crawl?.waiting_sites ?? []).held;
  if (all.length > 0) return <Note waiting={all} />;
  if (paced === null || status !== "running") return null;
  return (
    <p className="soft run-pace">
      <Icon name="clock" size={14} />
      <span className="wrap">
        <Words waiting={paced} />.{" "}
        <Link className="link" href={siteHref(paced.site)}>
          Limits of this site
        </Link>
      </span>
    </p>
  );
}

type Waiting = Omit<WaitingSite, "site"> & { site: string | null };

function Note({ waiting }: { waiting: readonly Waiting[] }) {
  return (
    <div className="run-note tone-warn" role="status">
      <Icon name="clock" />
      <ul className="run-waits">
        {waiting.map(({ site, ...waits }) => (
          <li key={site ?? waits.message} className="wrap">
            {site === null ? null : (
              <>
                <Link className="link" href={siteHref(site)}>
                  {site}
                </Link>
                {": "}
              </>
            )}
            <Words waiting={waits} />
            {waits.until === null || Date.parse(waits.until) < serverNow()
              ? "."
              : ` (${exactTime(Date.parse(waits.until))}).`}
          </li>
        ))}
      </ul>
    </div>
  );
}
