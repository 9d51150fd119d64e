import { PAGE_CHANGE_KINDS } from "../../../domain/monitor/monitored-page.ts";
import { IGNORED_KINDS, LEFT_OUT_KINDS } from "../../../domain/monitor/ignored.ts";
import { MONITORED } from "../../../domain/monitor/options.ts";
import { changeContent, listChanges, showChange } from "../../../orchestrator/jobs/changes.ts";
import { listLeftOut } from "../../../orchestrator/jobs/left-out.ts";
import { attachment } from "../../attachment.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { badCursor, decodeCursor, LINK_HEADER, linkNext, pageQuery, sendPage } from "../../paging.ts";
import { Count, IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

const about = {
  number: Type.Integer({ minimum: 1, description: "from 1, per job" }),
  run_id: Uuid,
  url: Type.String(),
  change: oneOf(PAGE_CHANGE_KINDS),
  what: oneOf(MONITORED),
  found_at: Time,
  previous_at: nullable({ ...Time, description: "when the page was last read before" }),
  words_added: Count,
  words_removed: Count,
  share: Type.Number({ minimum: 0, maximum: 1, description: "changed words of all words; of a screenshot: pixels" }),
  summary: nullable(
    Type.String({
      description: "the first difference; null for new and removed pages, and pages fetched with credentials",
    }),
  ),
};

const Change = strict(about);

const op = oneOf([" ", "-", "+"], { description: "same, removed or added" });

const Diff = strict({
  unified: Type.String({ description: "as diff -u shows it; empty for a screenshot" }),
  hunks: Type.Array(
    strict({
      before_line: Count,
      after_line: Count,
      lines: Type.Array(
        strict({
          op,
          text: Type.String(),
          words: Type.Optional(
            Type.Array(strict({ op, text: Type.String() }), {
              description: "by words, if the line became another one",
            }),
          ),
        }),
      ),
    }),
  ),
  records: nullable(
    Type.Array(
      strict({
        key: Type.Unknown({ description: "the value of the key field, or the number of the record" }),
        change: oneOf(PAGE_CHANGE_KINDS),
        fields: Type.Record(Type.String(), strict({ before: Type.Unknown(), after: Type.Unknown() })),
      }),
      { description: "only of fields" },
    ),
  ),
  picture: nullable(
    strict(
      {
        share: Type.Number(),
        boxes: Type.Array(strict({ x: Count, y: Count, width: Count, height: Count })),
        width: Count,
        height: Count,
      },
      { description: "only of a screenshot: the areas that changed" },
    ),
  ),
  truncated: Type.Boolean({ description: "there are more differences than are kept" }),
  ignored: Type.Array(
    strict({
      kind: oneOf(IGNORED_KINDS, {
        description:
          "built_in: dates, counters and ids; words: some words of a line; place: a place that changes on its own; shuffled: another order; this_run: fetches of the same run differed there; unsettled: a later fetch was as the last run",
      }),
      place: nullable(Type.String({ description: "its name, for monitor.watch; null: it has none" })),
      before: Type.Array(Type.String()),
      after: Type.Array(Type.String()),
    }),
    { description: "differences that were left out as noise: the first 50 places, the first 6 lines of each" },
  ),
});

const ChangeDetails = strict({
  ...about,
  diff: nullable({ ...Diff, description: "null: the page is new or removed" }),
  contents: Type.Array(oneOf(["before", "after"]), { description: "which contents can be read" }),
});

const Params = strict({ job_id: IdParam });
const number = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const unknownChange = problemAnswer("there is no such job, or no such change");

const LeftOut = strict({
  url: Type.String(),
  places: Type.Array(
    strict({
      kind: oneOf(LEFT_OUT_KINDS, {
        description:
          "words: some words of a line; place: a place that changes on its own; shuffled: the order of a list",
      }),
      place: Type.String({ description: "its name, for monitor.watch" }),
      texts: Type.Array(Type.String(), { description: "the first lines that the page showed there last" }),
    }),
  ),
});

function after(cursor: string | undefined): string {
  const text = decodeCursor(cursor) ?? "";
  if (!/^[0-9a-f]{0,128}$/.test(text) || text.length % 2 === 1) throw badCursor();
  return text;
}

function before(cursor: string | undefined): { before?: number } {
  const text = decodeCursor(cursor);
  if (text === undefined) return {};
  if (!/^[1-9]\d{0,14}$/.test(text)) throw badCursor();
  return { before: Number(text) };
}

/** What the monitor of a job found. */
export function jobChangeRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/jobs/:job_id/changes",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Changes that the monitor of a job found, newest first",
        operationId: "listJobChanges",
        tags: ["jobs"],
        params: Params,
        querystring: pageQuery({
          change: Type.Optional(oneOf(PAGE_CHANGE_KINDS)),
          run_id: Type.Optional({ ...Uuid, description: "only what this run found" }),
        }),
        response: {
          200: { ...Type.Array(Change), headers: LINK_HEADER },
          404: problemAnswer("there is no such job"),
        },
      },
    },
    async (request, reply) => {
      const { limit, cursor, change, run_id: runId } = request.query;
      const filter = { ...(change === undefined ? {} : { change }), ...(runId === undefined ? {} : { runId }) };
      const rows = await listChanges(deps, request.params.job_id, { ...filter, ...before(cursor), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: (row) => String(row.number) });
    },
  );

  api.get(
    "/jobs/:job_id/ignored-places",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Places that the monitor of a job leaves out, by page",
        operationId: "listIgnoredPlaces",
        tags: ["jobs"],
        params: Params,
        querystring: pageQuery({}),
        response: {
          200: { ...Type.Array(LeftOut), headers: LINK_HEADER },
          404: problemAnswer("there is no such job"),
        },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const { pages, next } = await listLeftOut(deps, request.params.job_id, { after: after(cursor), limit });
      if (next !== null) linkNext(request, reply, limit, next);
      return pages;
    },
  );

  api.get(
    "/jobs/:job_id/changes/:number",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One change of a page, with its differences",
        operationId: "getJobChange",
        tags: ["jobs"],
        params: strict({ job_id: IdParam, number }),
        response: { 200: ChangeDetails, 404: unknownChange },
      },
    },
    (request) => showChange(deps, request.params.job_id, request.params.number),
  );

  api.get(
    "/jobs/:job_id/changes/:number/:version",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The compared content before or after a change",
        operationId: "getJobChangeContent",
        tags: ["jobs"],
        params: strict({ job_id: IdParam, number, version: oneOf(["before", "after"]) }),
        response: {
          200: {
            description: "the text, the records or the screenshot",
            content: { "*/*": { schema: Type.Unsafe<string>(Type.String()) } },
          },
          404: unknownChange,
        },
      },
    },
    async (request, reply) => {
      const { job_id: job, number: which, version } = request.params;
      const { bytes, contentType } = await changeContent(deps, job, which, version);
      return reply
        .header("content-type", contentType)
        .header("content-disposition", attachment(`${version}-${which}`))
        .send(bytes);
    },
  );
}
