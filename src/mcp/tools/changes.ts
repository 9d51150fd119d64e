import { nullable, oneOf, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import type { Answer, OrbweaverClient, Row } from "../../api-client/client.ts";
import { PAGE_CHANGE_KINDS } from "../../domain/monitor/monitored-page.ts";
import { costOf, headOf, short, takeFitting } from "../bounds.ts";
import { Cursor, id, MaxChars, NextShape, NORMAL_CHARS, Text } from "../shapes.ts";
import { defineTool, type Next } from "../tool.ts";

const LISTED = 20;
/** Jobs that are looked at in one call: most may have no monitor. */
const MOST_JOBS = 100;
/** Reserved for what is beside the list or the difference. */
const AROUND = 1000;
/** Of one change or job in a list, as a rule. */
const ENTRY = 500;

type Change = Row<"get /jobs/{job_id}/changes">;
type Details = Answer<"get /jobs/{job_id}/changes/{number}">;

const ChangeShape = strict({
  number: Type.Integer(),
  change: oneOf(PAGE_CHANGE_KINDS),
  url: Type.String(),
  found_at: Type.String(),
  previous_at: Text,
  summary: nullable(Type.String({ description: "the first difference" })),
});

export const changes = defineTool({
  name: "changes",
  title: "Changes of monitored pages",
  description:
    "What the monitors of saved jobs found: new, changed and removed pages, newest first. Without job_id, lists the monitored jobs; with number, shows the difference of one change.",
  input: strict({
    job_id: Type.Optional(id("id of a monitored job")),
    run_id: Type.Optional(id("only changes that this run of the job found")),
    number: Type.Optional(Type.Integer({ minimum: 1, description: "one change of the job, with its difference" })),
    cursor: Cursor,
    max_chars: MaxChars,
  }),
  output: strict({
    jobs: Type.Array(strict({ job_id: Type.String(), name: Text, url: Text, what: Type.String(), last_run_at: Text })),
    changes: Type.Array(ChangeShape),
    diff: nullable(Type.String({ description: "lines that are new (+) or gone (-), of one change" })),
    fields: nullable(Type.String({ description: "of records that are compared by field: JSON, before and after" })),
    notes: Type.Array(Type.String()),
    next: NextShape,
  }),
  role: "viewer",
  hints: { reads: true },
  call: async ({ job_id: job, run_id: run, number, cursor, max_chars: maxChars = NORMAL_CHARS }, { api }) => {
    const room = maxChars - AROUND;
    if (job === undefined) return { ...NOTHING, ...(await monitored(api, cursor, room)) };
    if (number !== undefined) {
      const change = await api.jobs.pageChange(job, String(number));
      const about = shown(change);
      return { ...NOTHING, changes: [about], ...differenceOf(change, room - costOf(about)) };
    }
    const filter = run === undefined ? {} : { run_id: run };
    const limit = Math.min(LISTED, Math.floor(room / ENTRY));
    const { rows, next } = await api.jobs.changes(job, { ...filter, cursor, limit }).page();
    return {
      ...NOTHING,
      ...fitted("changes", rows.map(shown), room),
      next: next === null ? firstOf(job, rows[0]) : more({ job_id: job, ...filter, cursor: next }, "older changes"),
    };
  },
});

function fitted<N extends string, T>(name: N, list: readonly T[], room: number) {
  const fitting = takeFitting(list, room);
  const notes =
    fitting.length === list.length ? [] : [`${list.length - fitting.length} more do not fit: raise max_chars`];
  return { [name]: fitting, notes } as Record<N, T[]> & { notes: string[] };
}

const NOTHING = { jobs: [], changes: [], diff: null, fields: null, notes: [] as string[], next: null as Next | null };

const more = (args: Record<string, unknown>, why: string): Next => ({ tool: "changes", arguments: args, why });

const firstOf = (job: string, first: Change | undefined): Next | null =>
  first === undefined ? null : more({ job_id: job, number: first.number }, "the difference of the newest one");

async function monitored(api: OrbweaverClient, cursor: string | undefined, room: number) {
  const { rows, next } = await api.jobs.list({ cursor, limit: MOST_JOBS }).page();
  const jobs = rows.flatMap(({ id: job, name, target_url: url, monitor, last_run: last }) =>
    monitor === null
      ? []
      : [
          {
            job_id: job,
            name: short(name, 200),
            url: short(url, 500),
            what: monitor.what,
            last_run_at: last?.created_at ?? null,
          },
        ],
  );
  return { ...fitted("jobs", jobs, room), next: next === null ? null : more({ cursor: next }, "older jobs") };
}

function shown({ number, change, url, found_at, previous_at, summary }: Change) {
  return { number, change, url: short(url, 1000) ?? "", found_at, previous_at, summary: short(summary) };
}

function differenceOf({ change, diff }: Details, room: number) {
  if (diff === null) return { notes: [`the page is ${change}: there is no difference to show`] };
  const notes = diff.truncated ? ["there are more differences than are kept"] : [];
  const { unified, records, picture } = diff;
  const share = unified !== "" && records !== null ? room / 2 : room;
  const cut = (text: string, name: string) => {
    const head = headOf(text, share);
    if (head.length < text.length)
      notes.push(`${name} is cut: ${head.length} of ${text.length} characters shown; raise max_chars`);
    return head;
  };
  if (picture !== null) notes.push(`${(picture.share * 100).toFixed(1)} % of the pixels of the screenshot changed`);
  return {
    diff: unified === "" ? null : cut(unified, "diff"),
    fields: records === null ? null : cut(JSON.stringify(records), "fields"),
    notes,
  };
}
