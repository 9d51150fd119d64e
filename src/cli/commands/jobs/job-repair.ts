import { type Command, Option } from "commander";
import { type Answer, isOrbweaverError } from "../../../api-client/client.ts";
import { OrbError } from "../../../base/errors.ts";
import {
  addressCell,
  apiCommand,
  definedOnly,
  fullId,
  nextCommand,
  timeCell,
  type UrlOption,
} from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { describeRule } from "../../fields.ts";
import { actorText } from "../../print/actor.ts";
import { EXIT, facts, listTable, oneLine, printJson } from "../../print/output.ts";

type Repair = Answer<"get /jobs/{job_id}/repair">;

interface RepairOptions extends UrlOption {
  accept?: boolean;
  reread?: boolean;
  reject?: boolean;
}

/** `orb jobs repair`: new rules for fields that broke. */
export function addRepairCommand(jobs: Command, context: CliContext): void {
  apiCommand(jobs, "repair", "propose new rules for the broken fields of a job's newest degraded run; fetches nothing")
    .argument("<job_id>")
    .addOption(new Option("--accept", "change the job as proposed; it becomes a new version").conflicts("reject"))
    .option("--reread", "with --accept: also read the degraded run again from its kept pages; fetches nothing")
    .option("--reject", "reject the proposal")
    .addHelpText(
      "after",
      "\nWithout an option, shows the open proposal or computes one.\nExit code 1: no field could be repaired beyond doubt.\n",
    )
    .action((id: string, options: RepairOptions) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        if (options.reread === true && options.accept !== true)
          throw new OrbError("usage", "--reread needs --accept", {
            hint: `Accept the proposal and read the run again: ${nextCommand(`jobs repair ${id} --accept --reread`, options)}`,
          });
        const job = await fullId(api, "job", id);
        const open = async () => {
          const known = await api.jobs.repair(job).catch((error: unknown) => {
            if (isOrbweaverError(error, "not_found")) return null;
            throw error;
          });
          return known?.state === "open" ? known : api.jobs.proposeRepair(job);
        };
        const repair =
          options.accept === true
            ? await api.jobs.acceptRepair(job, definedOnly({ reread: options.reread }))
            : options.reject === true
              ? await api.jobs.rejectRepair(job)
              : await open();
        if (repair.state === "abstained") context.exitCode = EXIT.failed;
        if (context.json) return printJson(context.terminal, repair);
        return context.terminal.out(shown(repair, options, context));
      }),
    );
}

function shown(repair: Repair, options: UrlOption, { terminal: { columns }, wiring }: CliContext): string {
  const { state, reason, pages, run_id: run, version, fields, job_id: job, decided_at: at, decided_by: by } = repair;
  const about = facts(
    [
      ["repair", state],
      ["decided", at === null ? null : timeCell(at, wiring.now(), columns)],
      ["by", by === null ? null : actorText(by)],
      ["degraded run", run],
      ["job version", String(version)],
      ["pages", `${pages.paired} with a saved version, ${pages.others} others`],
      ["note", reason],
    ],
    columns,
  );
  const parts = fields.map((field) => shownField(field, columns));
  const accept = nextCommand(`jobs repair ${job} --accept`, options);
  const then =
    state === "open" ? `\nAccept it: ${accept} (with --reread the degraded run is read again), or use --reject\n` : "";
  return `${about}${parts.map((part) => `\n${part}`).join("")}${then}`;
}

function shownField(repair: Repair["fields"][number], columns: number | undefined): string {
  const { field, old_rule: old, new_rule: rule, confidence, reason, values } = repair;
  const head = facts(
    [
      [field === null ? "records" : "field", field ?? "items"],
      ["old rule", shownRule(old)],
      ["new rule", rule === null ? `none: ${reason ?? ""}` : shownRule(rule)],
      ["confidence", confidence === null ? null : `${Math.round(confidence * 100)} %`],
    ],
    columns,
  );
  if (values.length === 0) return head;
  const lines = values.map(({ url, saved, before, after }) => [
    addressCell(url, columns),
    cell(saved),
    cell(before),
    cell(after),
  ]);
  return `${head}${listTable(["page", "saved", "old rule now", "new rule"], lines, columns)}`;
}

function shownRule(rule: unknown): string {
  return typeof rule === "object" && rule !== null
    ? describeRule(rule as Parameters<typeof describeRule>[0])
    : String(rule);
}

const LONGEST = 40;

function cell(value: unknown): string {
  if (value === null || value === undefined) return "–";
  const text = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
