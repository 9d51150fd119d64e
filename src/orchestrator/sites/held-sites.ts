import { OrbError } from "../../base/errors.ts";
import type { JobDeps } from "../jobs/deps.ts";

/** A site that asked for patience, or that an operator has paused, is not asked behind its owner's back. */
export async function leaveHeldSitesAlone(
  { store, clock }: Pick<JobDeps, "store" | "clock">,
  name: string,
): Promise<void> {
  const site = await store.site(name);
  if (site === null) return;
  if (site.paused)
    throw new OrbError("site_waits", `the site ${name} is paused`, { hint: "Resume it, then try again." });
  if (site.holdUntil > clock.now())
    throw new OrbError(
      "site_waits",
      `the site ${name} is rate limited until ${new Date(site.holdUntil).toISOString()}`,
    );
}
