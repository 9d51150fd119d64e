import { type Command, InvalidArgumentError, Option } from "commander";
import type { OrbweaverClient } from "../../../api-client/client.ts";
import { OrbError } from "../../../base/errors.ts";
import { RUN_KINDS, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import { apiCommand, asUnchecked, fullId, definedOnly, type UrlOption } from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { keptWords } from "../../print/kept-words.ts";
import { plural, printJson } from "../../print/output.ts";

interface DeleteOptions extends UrlOption {
  force?: boolean;
  all?: boolean;
  olderThan?: number;
  status?: string;
  tag?: string;
  job?: string;
  kind?: string;
  site?: string;
  search?: string;
  dryRun?: boolean;
}

/** `orb runs keep`, `orb runs delete`: retention. */
export function addRunDeletionCommands(runs: Command, context: CliContext): void {
  const { terminal } = context;
  apiCommand(runs, "keep", "exempt a run from retention")
    .argument("<run_id>")
    .option("--undo", "apply the retention rules to this run again")
    .action((id: string, { undo = false, url }: UrlOption & { undo?: boolean }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const run = await fullId(api, "run", id);
        const kept = undo ? await api.runs.unkeep(run) : await api.runs.keep(run);
        if (context.json) return printJson(terminal, kept);
        return terminal.out(`${kept.id}: ${keptWords(kept)}\n`);
      }),
    );

  apiCommand(runs, "delete", "delete one run, or all ended runs that match the filters, with their results and files")
    .argument("[run_id]", "one run; without it, use --older-than, --status, --tag, … or --all")
    .option("--force", "cancel the run first if it has not ended")
    .option("--older-than <span>", "only those that ended longer ago than this: 30d, 12h, 90m", spanMs)
    .addOption(new Option("--status <status>", "only those with this final status").choices(TERMINAL_RUN_STATES))
    .option("--tag <tag>", "only those of jobs with this tag")
    .option("--job <job_id>", "only those of this job")
    .addOption(new Option("--kind <kind>", "only those of this kind").choices(RUN_KINDS))
    .option("--site <site>", "only those of this site")
    .option("--search <text>", "only those with this text in their name or URL")
    .option("--all", "every run that has ended")
    .option("--dry-run", "only count them")
    .action((id: string | undefined, options: DeleteOptions) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        if (id === undefined) return deleteMany(context, api, options);
        if (Object.keys(filterOf(options, 0)).length > 0 || options.all === true || options.dryRun === true)
          throw new OrbError("usage", "a run id cannot be combined with filters");
        const run = await fullId(api, "run", id);
        await api.runs.delete(run, options.force === true ? { force: true } : {});
        if (context.json) return printJson(terminal, { deleted: run });
        return terminal.out(`deleted ${run}\n`);
      }),
    );
}

function filterOf({ olderThan, status, tag, kind, site, search }: DeleteOptions, now: number): Record<string, unknown> {
  return definedOnly({
    status: status === undefined ? undefined : [status],
    tag,
    kind,
    site,
    q: search,
    ended_before: olderThan === undefined ? undefined : new Date(now - olderThan).toISOString(),
  });
}

async function deleteMany(context: CliContext, api: OrbweaverClient, options: DeleteOptions): Promise<void> {
  const { terminal, wiring } = context;
  const { job, all, dryRun = false } = options;
  const filter = {
    ...filterOf(options, wiring.now()),
    ...(job === undefined ? {} : { job_id: await fullId(api, "job", job) }),
  };
  if (Object.keys(filter).length === 0 && all !== true)
    throw new OrbError(
      "usage",
      "choose the runs to delete: an id, --older-than 30d, --status failed, --tag NAME, … or --all",
      {
        hint: "Count them first with --dry-run.",
      },
    );
  if (dryRun) {
    const { matched } = await api.runs.deleteMany(asUnchecked({ filter, dry_run: true }));
    if (context.json) return printJson(terminal, { dry_run: true, matched });
    return terminal.out(`${plural(matched, "run")} would be deleted\n`);
  }
  const { id } = asDeletion(await api.runs.deleteMany(asUnchecked({ filter })));
  const showsProgress = !context.json && terminal.columns !== undefined;
  await followDeletion(api, id, ({ deleted, matched }) => {
    if (showsProgress) terminal.err(`deleted ${deleted} of ${matched}\n`);
  });
  const deletion = await api.runs.deletion(id);
  if (context.json) return printJson(terminal, deletion);
  return terminal.out(`deleted ${plural(deletion.deleted, "run")}; their rows and files are removed within minutes\n`);
}

/** Waits for its end and prints its progress. */
async function followDeletion(
  api: OrbweaverClient,
  id: string,
  onProgress: (deletion: Deletion) => void,
): Promise<number> {
  for (let reported = -1; ;) {
    const deletion = await api.runs.deletion(id);
    if (deletion.status !== "running") return deletion.deleted;
    if (deletion.deleted !== reported) onProgress(deletion);
    reported = deletion.deleted;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** The number of runs that the finished deletion removed. */
export function deletionEnded(api: OrbweaverClient, deletion: unknown): Promise<number> {
  return followDeletion(api, asDeletion(deletion).id, () => {});
}

const LOOK_MS = 200;

type Deletion = Awaited<ReturnType<OrbweaverClient["runs"]["deletion"]>>;

/** Without `dry_run` the response is a deletion. */
function asDeletion(answer: unknown): Deletion {
  return answer as Deletion;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

function spanMs(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const each = UNITS[unit];
  if (each === undefined) throw new InvalidArgumentError("expected a duration, such as 30d, 12h or 90m.");
  return Number(number) * each;
}
