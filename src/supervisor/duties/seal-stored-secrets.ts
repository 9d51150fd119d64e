import { type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { JobDeps } from "../../orchestrator/jobs/deps.ts";
import { sealStored } from "../../orchestrator/workflows/seal-stored.ts";
import type { Duty } from "../duties.ts";

/** Lets other writers use the database in between. */
const REST_MS = 20;

/** Seals secrets that earlier versions stored in clear text. Runs once, and resumes after an interruption. */
export function sealStoredSecrets(
  deps: Pick<JobDeps, "store" | "seal" | "stepKinds"> & { clock: Clock; log: Log },
): Duty {
  return {
    name: "encrypt credentials that were stored in plain text",
    everyMs: 3_600_000,
    async run(signal) {
      let sealed = 0;
      for (let more = true; more && !signal.aborted;) {
        const part = await sealStored(deps);
        sealed += part.sealed;
        more = part.more;
        if (more) await sleep(deps.clock, REST_MS, signal);
      }
      if (sealed > 0) deps.log.info("credentials that were stored in plain text are encrypted now", { texts: sealed });
    },
  };
}
