import { OrbError } from "../../base/errors.ts";
import { isoOf } from "../../base/iso.ts";
import type { JobDeps } from "../jobs/deps.ts";

/** A preview must not bypass a rate limit or an operator's pause. */
export async function requireSiteNotHeld(
  { store, clock }: Pick<JobDeps, "store" | "clock">,
  name: string,
): Promise<void> {
  const site = await store.site(name);
  if (site === null) return;
  if (site.paused)
    throw new OrbError("site_waits", `the site ${name} is paused`, { hint: "Resume it, then try again." });
  if (site.holdUntil > clock.now())
    throw new OrbError("site_waits", `the site ${name} is rate limited until ${isoOf(site.holdUntil)}`);
}
