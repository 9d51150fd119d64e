import type { Command } from "commander";
import type { Answer } from "../../../api-client/client.ts";
import {
  apiCommand,
  definedOnly,
  fullId,
  listCommand,
  type ListOptions,
  timeCell,
  type UrlOption,
} from "../../api/command.ts";
import { rowsOf } from "../../api/rows.ts";
import type { CliContext } from "../../context.ts";
import { actorText } from "../../print/actor.ts";
import { facts, listTable, oneLine, printJson } from "../../print/output.ts";
import { positiveInteger } from "../../values.ts";

type Details = Answer<"get /jobs/{job_id}/versions/{version}">;

/** `orb jobs versions` and `orb jobs restore`: what became of a job, and how to undo it. */
export function addVersionCommands(jobs: Command, context: CliContext): void {
  listCommand(jobs, "versions", "versions of a job, newest first; with a number: what that one changed")
    .argument("<job_id>")
    .argument("[version]", "number of a version", positiveInteger)
    .action((id: string, version: number | undefined, { url, ...page }: ListOptions) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const { terminal, json, wiring } = context;
        const job = await fullId(api, "job", id);
        if (version !== undefined) return show(context, await api.jobs.version(job, String(version)));
        const { rows, more } = await rowsOf(page, (limit) => api.jobs.versions(job, { limit }));
        if (json) return printJson(terminal, rows);
        const lines = rows.map(({ version: number, made_at: at, made_by: by, author, restored_version: restored }) => [
          number,
          timeCell(at, wiring.now(), terminal.columns),
          by === null ? "–" : actorText(by),
          author,
          restored === null ? "" : `restores version ${restored}`,
        ]);
        terminal.out(listTable(["version", "made", "by", "with", ""], lines, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  apiCommand(jobs, "restore", "make an earlier version of a job the current one; it becomes a new version")
    .argument("<job_id>")
    .argument("<version>", "number of the version", positiveInteger)
    .action((id: string, version: number, options: UrlOption) =>
      context.withApi(options, async (api) =>
        show(context, await api.jobs.restore(await fullId(api, "job", id), String(version))),
      ),
    );
}

function show({ json, terminal, wiring }: CliContext, version: Details): void {
  if (json) return printJson(terminal, version);
  const { made_at: at, made_by: by, author, restored_version: restored, compared_with: before, changes } = version;
  const about = facts(
    [
      ["version", String(version.version)],
      ["made", timeCell(at, wiring.now(), terminal.columns)],
      ["by", by === null ? null : actorText(by)],
      ["with", author],
      ["restores", restored === null ? null : `version ${restored}`],
      ["compared with", before === null ? null : `version ${before}`],
    ],
    terminal.columns,
  );
  terminal.out(`${about}\n${changesOf(version, changes, terminal.columns)}`);
}

function changesOf(
  { compared_with: before }: Details,
  changes: Details["changes"],
  columns: number | undefined,
): string {
  if (before === null) return "there is no version before it to compare with: --json has its definition\n";
  if (changes.length === 0) return "nothing that is shown changed\n";
  const lines = changes.map((change) => [change.path, shown(change.before), shown(change.after)]);
  return listTable(["field", "before", "after"], lines, columns);
}

const LONGEST = 80;

function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  const text = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
