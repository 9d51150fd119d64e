import type { FieldError } from "../../base/errors.ts";
import { without } from "../../base/without.ts";
import { callersLimits } from "../../domain/access/caller.ts";
import type { JobNotify } from "../../domain/notify/rules.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import type { NewJob } from "../../store/records/job-records.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "./deps.ts";

/** The job with its channels, by id: a renamed channel stays. `notify` absent: as before. */
export async function withNotify(
  { store }: Pick<JobDeps, "store">,
  job: NewJob,
  notify: readonly JobNotify[] | undefined,
  before?: NewJob,
): Promise<NewJob> {
  const recipe = without(job.recipe as Recipe, "notify");
  const kept = (before?.recipe as Recipe | undefined)?.notify ?? [];
  const list = notify === undefined ? kept : await channelsOf(store, notify, kept);
  return { ...job, recipe: list.length === 0 ? recipe : { ...recipe, notify: list } };
}

async function channelsOf(
  store: JobDeps["store"],
  notify: readonly JobNotify[],
  kept: readonly JobNotify[],
): Promise<JobNotify[]> {
  const problems: FieldError[] = [];
  const list: JobNotify[] = [];
  const isLimited = callersLimits() !== null;
  for (const [n, entry] of notify.entries()) {
    const channel = await store.channel(entry.channel);
    // A channel that was deleted since does not block other changes.
    const id = channel?.id ?? kept.find(({ channel: one }) => one === entry.channel)?.channel;
    const path = `notify[${n}].channel`;
    // Unknown or not: a key with limits must not learn of other channels.
    if (isLimited && !kept.some(({ channel: one }) => one === id))
      problems.push({
        path,
        message: "a key that is limited to some jobs, sites or tags may name only channels that the job already has",
      });
    else if (id === undefined)
      problems.push({ path, message: `there is no notification channel with the id or name ${entry.channel}` });
    else if (list.some(({ channel: one }) => one === id)) problems.push({ path, message: "is listed twice" });
    else list.push({ ...entry, channel: id });
  }
  if (problems.length > 0) throw invalid(problems);
  return list;
}
