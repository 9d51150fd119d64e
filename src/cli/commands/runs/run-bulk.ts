import { Argument, type Command, Option } from "commander";
import { RUN_KINDS, RUN_STATES } from "../../../domain/run/states.ts";
import { BULK_ACTIONS, type BulkFailure } from "../../../orchestrator/runs/bulk.ts";
import { apiCommand, asUnchecked, definedOnly, fullId, type UrlOption } from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { plural, printJson } from "../../print/output.ts";

/** `orb runs bulk`: the same for many runs. */
export function addRunBulkCommand(runs: Command, context: CliContext): void {
  const { terminal } = context;
  type Options = UrlOption & {
    status?: string;
    job?: string;
    kind?: string;
    site?: string;
    search?: string;
    dryRun?: boolean;
  };
  apiCommand(runs, "bulk", "cancel, pause, resume or retry all runs that match; count them first with --dry-run")
    .addArgument(new Argument("<action>", "what to do").choices(BULK_ACTIONS))
    .addOption(new Option("--status <status>", "only those in this state").choices(RUN_STATES))
    .option("--job <job_id>", "only those of this job")
    .addOption(new Option("--kind <kind>", "only those of this kind").choices(RUN_KINDS))
    .option("--site <site>", "only those of this site")
    .option("--search <text>", "only those with this text in their name or URL")
    .option("--dry-run", "only count them")
    .action((action: string, { status, job, kind, site, search, dryRun = false, url }: Options) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const job_id = job === undefined ? undefined : await fullId(api, "job", job);
        const filter = definedOnly({
          status: status === undefined ? undefined : [status],
          kind,
          site,
          job_id,
          q: search,
        });
        const total = { matched: 0, done: 0, failed: [] as BulkFailure[] };
        for (let from: string | undefined; ;) {
          const { matched, done, failed, next } = await api.runs.change(
            asUnchecked({ action, filter, dry_run: dryRun, ...definedOnly({ from }) }),
          );
          total.matched = Math.max(total.matched, matched);
          total.done += done;
          total.failed.push(...failed);
          // One call changes at most a thousand runs. Continue after them, so that runs that fail again at once are not
          // visited twice.
          if (dryRun || next === null) break;
          from = next;
        }
        if (total.failed.length > 0) context.exitCode = 1;
        if (context.json) return printJson(terminal, { action, dry_run: dryRun, ...total });
        if (dryRun) return terminal.out(`${plural(total.matched, "run")} would be affected\n`);
        terminal.out(`${action}: ${plural(total.done, "run")} of ${total.matched}\n`);
        for (const { run_id, detail } of total.failed) terminal.err(`${run_id}: ${detail}\n`);
        return undefined;
      }),
    );
}
