import { nullable, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import type { Crawl } from "../../api-client/client.ts";
import { adviceFor } from "../advice.ts";
import { short } from "../bounds.ts";
import { BEGINNING } from "../cursor.ts";
import { firstFailure } from "../failures.ts";
import { sentence } from "../problems.ts";
import { Cuts, leftOutNote, readRecords, Records, recordsOf } from "../records.ts";
import { nextRecords } from "./crawl-results.ts";
import {
  Fields,
  Items,
  MaxChars,
  NextShape,
  NORMAL_CHARS,
  RecordSchema,
  SessionId,
  Strategy,
  waitSeconds,
} from "../shapes.ts";
import { defineTool, type ToolCall, ToolFailure } from "../tool.ts";
import { hasEnded, waitForCrawl } from "../waiting.ts";
import { waitingWords } from "../words.ts";

/** Shorter than the minute after which many clients give up. */
const WAIT_SECONDS = 45;
/** For one page an early answer is better than many attempts. */
const RETRIES = 1;
const PAGE_MINUTES = 10;

export const scrape = defineTool({
  name: "scrape",
  title: "Scrape one page",
  description:
    "Fetch one web page as clean text or as fields, and wait for it. Obeys robots.txt and the limits of the site. For more than a few pages of a site use crawl_start.",
  input: strict({
    url: Type.String({ minLength: 1, maxLength: 8192, description: "http or https URL of the page" }),
    fields: Fields,
    items: Items,
    schema: RecordSchema,
    strategy: Strategy,
    session_id: SessionId,
    wait_seconds: waitSeconds(WAIT_SECONDS, "after this time the run continues, and the response has its run_id"),
    max_chars: MaxChars,
  }),
  output: strict({
    run_id: Type.String(),
    status: Type.String(),
    url: nullable(Type.String()),
    message: nullable(Type.String()),
    records: Records,
    cut: Cuts,
    notes: Type.Array(Type.String()),
    next: NextShape,
  }),
  role: "operator",
  hints: { reads: false, open: true },
  call: async (args, call) => {
    const {
      url,
      fields,
      items,
      schema,
      strategy,
      session_id,
      wait_seconds: seconds = WAIT_SECONDS,
      max_chars: maxChars = NORMAL_CHARS,
    } = args;
    const body = {
      url,
      max_depth: 0,
      max_pages: 1,
      retry_attempts: RETRIES,
      timeout_minutes: PAGE_MINUTES,
      fields,
      items,
      schema,
      strategy,
      session_id,
      // The page that was asked for, whatever it is: a crawl with fields skips documents.
      documents: true,
      temporary: true,
    };
    const { task_id: id } = await call.api.crawls.start(body);
    const view = await waitForCrawl(call, id, seconds).catch((error: unknown) => {
      if (!call.isCancelled()) throw error;
      return cancelled(call, id);
    });
    if (!hasEnded(view.status)) return call.isCancelled() ? cancelled(call, id) : unfinished(view);
    if (view.completed_items === 0) throw await failureOf(call, view);
    const read = await readRecords(recordsOf(call.api, id, { of: view.url, maxChars }), BEGINNING);
    return {
      run_id: id,
      status: view.status,
      url: short(view.url),
      message: null,
      records: read.records,
      cut: read.cut,
      notes: [
        ...view.warnings.map(({ message }) => message),
        ...notesOn(read.records, fields, items),
        ...noText(read.records, strategy),
        ...leftOutNote(read.leftOut),
      ],
      next: read.atEnd ? null : nextRecords({ run_id: id }, read.position, "more records of this page"),
    };
  },
});

/** The client cancelled: cancel the run. */
async function cancelled({ api }: ToolCall, id: string): Promise<never> {
  await api.runs.cancel(id);
  throw new ToolFailure(`The call was cancelled, and with it the run ${id}.`);
}

function unfinished(view: Crawl) {
  const { task_id: id } = view;
  const why = waitingWords(view);
  return {
    run_id: id,
    status: view.status,
    url: short(view.url),
    message: `not done yet${why === null ? "" : `: ${why}`}; the run continues`,
    records: [],
    cut: [],
    notes: [],
    next: {
      tool: "crawl_status",
      arguments: { run_id: id, wait_seconds: WAIT_SECONDS },
      why: "to wait for its end; then crawl_results has the page",
    },
  };
}

async function failureOf({ api }: ToolCall, view: Crawl): Promise<ToolFailure> {
  const { task_id: id } = view;
  const failed = await firstFailure(api, id);
  if (failed === null)
    return new ToolFailure(
      `The run ${id} is ${view.status}${view.message === null ? "." : `: ${sentence(view.message)}`}`,
    );
  const { failure_code: code, failure_reason: reason, message, files } = failed;
  const advice = adviceFor(code, reason);
  const seen = files.length === 0 ? "" : ` Evidence: ${files.map(({ role, uri }) => `${role} ${uri}`).join(", ")}.`;
  return new ToolFailure(
    `${code} (${reason}): ${sentence(message ?? "the page could not be fetched")}${advice === null ? "" : ` ${advice}`}${seen} Run ${id}.`,
    { run_id: id, failure_code: code, failure_reason: reason },
  );
}

/** Not a failure, but not what was requested either. */
function notesOn(
  records: readonly Record<string, unknown>[],
  fields: readonly string[] | Record<string, unknown> | undefined,
  items: unknown,
): string[] {
  if (records.length === 0)
    return [
      items === undefined
        ? "the page has no records"
        : "items matched nothing on the page: test it with extract_preview",
    ];
  const names = Array.isArray(fields) ? (fields as string[]) : Object.keys(fields ?? {});
  const missing = names.filter((name) => records.every((record) => isEmpty(record[name])));
  return missing.length === 0 ? [] : [`found nothing for ${missing.join(", ")}: extract_preview shows why`];
}

/** A page filled by scripts may look complete to a plain request. */
function noText(records: readonly Record<string, unknown>[], strategy: string | undefined): string[] {
  if (strategy === "browser" || records.length !== 1 || records[0]?.["word_count"] !== 0) return [];
  return ['the page has no text without a browser: if scripts render it, call again with strategy "browser"'];
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}
