import { EXPORT_FORMATS } from "../../../exporters/registry.ts";
import { type CrawlErrorView, listCrawlErrors, requireCrawl } from "../../../orchestrator/crawls/read.ts";
import { crawlStatusOf } from "../../../orchestrator/crawls/view.ts";
import { listResults } from "../../../orchestrator/runs/read.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { badCursor, decodeCursor, linkNext, pageQuery, refuseBesideFormat } from "../../paging.ts";
import { Count, nullable, oneOf, strict } from "../../schemas.ts";
import { FILE_TYPES, notArchived, OnlyChanged, refuseWithoutFormat, sendExport } from "../runs/results.ts";
import { CRAWL_STATUSES, CrawlId, CrawlIdAlias, CrawlParams, PageTask, unknownCrawl } from "./scraping.ts";
import { Type } from "../../type.ts";

const UUID = /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})?$/;

/** Items and failures are two lists that are read in parallel: a cursor has a position in each. */
function readCursor(cursor: string | undefined): { items: { after?: string }; errors: { after?: string } } {
  const [items = "", errors = "", ...more] = (decodeCursor(cursor) ?? "").split("/");
  if (more.length > 0 || !UUID.test(items) || !UUID.test(errors)) throw badCursor();
  const pageAfter = (after: string) => (after === "" ? {} : { after });
  return { items: pageAfter(items), errors: pageAfter(errors) };
}

const CrawlPage = strict({
  crawl_id: CrawlId,
  task_id: CrawlIdAlias,
  status: oneOf(CRAWL_STATUSES),
  items: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  errors: Type.Array(
    strict({
      ...PageTask,
      url: nullable(Type.String()),
      failure_code: Type.String(),
      failure_reason: Type.String(),
      message: Type.String(),
      attempts: Count,
    }),
  ),
});

/** Results of a crawl, in pages or as one file. */
export function crawlResultRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/scraping/tasks/:task_id/results",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The results of a crawl so far, oldest first; with format, all of them as a file",
        operationId: "listCrawlResults",
        tags: ["crawls"],
        params: CrawlParams,
        querystring: pageQuery({
          include_errors: Type.Boolean({
            default: false,
            description:
              "also return failed pages: each response has up to `limit` records and up to `limit` failed pages",
          }),
          format: Type.Optional(oneOf(EXPORT_FORMATS)),
          only_changed: OnlyChanged,
        }),
        response: {
          200: {
            description: "a page of results; with format, a file",
            content: { "application/json": { schema: CrawlPage }, ...FILE_TYPES },
          },
          404: unknownCrawl,
          409: notArchived,
        },
      },
    },
    async (request, reply) => {
      const { limit, format, include_errors: wantsErrors, only_changed: onlyChanged } = request.query;
      const run = await requireCrawl(deps, request.params.task_id);
      if (format !== undefined) refuseBesideFormat(request, "limit", "cursor", "include_errors");
      if (format !== undefined) return sendExport(deps, { request, reply }, run.id, format, onlyChanged) as never;
      refuseWithoutFormat(onlyChanged);
      const cursors = readCursor(request.query.cursor);
      const found = await listResults(deps, run.id, { ...cursors.items, limit: limit + 1 });
      const failed: CrawlErrorView[] = wantsErrors
        ? await listCrawlErrors(deps, run.id, { ...cursors.errors, limit: limit + 1 })
        : [];
      const [items, errors] = [found.slice(0, limit), failed.slice(0, limit)];
      if (found.length > limit || failed.length > limit)
        linkNext(
          request,
          reply,
          limit,
          [
            items.at(-1)?.id ?? cursors.items.after ?? "",
            errors.at(-1)?.page_task_id ?? cursors.errors.after ?? "",
          ].join("/"),
        );
      return {
        crawl_id: run.id,
        task_id: run.id,
        status: crawlStatusOf(run.status),
        items: items.map(({ data }) => data),
        errors,
      };
    },
  );
}
