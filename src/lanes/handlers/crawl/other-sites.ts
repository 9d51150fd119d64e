/** Redirects to other sites, which have limits and outages of their own. */
import type { Clock } from "../../../base/clock.ts";
import type { Handled } from "../../../domain/run/outcome.ts";
import { siteOf } from "../../../domain/text/url.ts";
import { type HeldAtSite, heldBySite } from "../../../domain/run/waiting.ts";
import { waitingSentence } from "../../../domain/run/waiting-sentence.ts";
import type { PageAnswer } from "../../../fetch/page.ts";
import type { Store } from "../../../store/ports/port.ts";

interface OtherSitesDeps {
  store: Pick<Store, "site">;
  clock: Clock;
}

/** How soon the site's state is checked again; nothing is fetched for that. */
const RECHECK_MS = 2_000;

/** Thrown before a request to a site that accepts none now. */
class HeldElsewhere extends Error {
  readonly site: string;
  readonly held: HeldAtSite;

  constructor(site: string, held: HeldAtSite) {
    super(`${site}: ${waitingSentence(held)}`);
    this.site = site;
    this.held = held;
  }
}

/** Throws when the site is paused, rate limited, or its circuit is open. */
export async function requireOpenSite({ store, clock }: OtherSitesDeps, site: string): Promise<void> {
  const record = await store.site(site);
  const held = record === null ? null : heldBySite(record, 0, clock.now());
  if (held !== null) throw new HeldElsewhere(site, held);
}

/**
 * A page whose redirects lead through a site that accepts no requests now: it waits and starts over when the site does.
 * `known`: the site it is known to wait for.
 */
export function waitElsewhere(error: unknown, known: string | null, now: number): Handled {
  if (!(error instanceof HeldElsewhere)) throw error;
  const { site, held, message } = error;
  const event = {
    type: "task.deferred",
    level: "info",
    message: `Waiting for the site that the page redirects to: ${message}`,
    meta: { site, reason: held.reason },
  } as const;
  return {
    kind: "handed_back",
    why: message,
    waitMs: Math.min(RECHECK_MS, Math.max(1, (held.until ?? Number.POSITIVE_INFINITY) - now)),
    ...(known === site ? {} : { report: { run: { events: [event], facts: { waits_at: site } } } }),
  };
}

/** A plain request that is redirected to another site becomes a task of that site's lane; null: it was not. */
export function movedElsewhere(answer: PageAnswer | null): Handled | null {
  const to = answer?.notFollowed;
  if (to === undefined || siteOf(to) === siteOf(answer!.finalUrl)) return null;
  const { redirects, finalUrl, status } = answer!;
  return {
    kind: "moved",
    url: to,
    redirects: [...redirects.map(({ from }) => from), finalUrl],
    httpStatus: status,
  };
}
