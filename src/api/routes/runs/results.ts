import { EXPORT_FORMATS, formatNamed } from "../../../exporters/registry.ts";
import { invalid } from "../../../orchestrator/invalid.ts";
import { exportRun } from "../../../orchestrator/runs/export.ts";
import { listResults, showArtifact } from "../../../orchestrator/runs/read.ts";
import type { ArtifactView } from "../../../orchestrator/runs/view.ts";
import { attachment } from "../../attachment.ts";
import { sendBytes } from "../../access/held-answers.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, refuseBesideFormat, sendPage } from "../../paging.ts";
import { IdParam, oneOf, problemAnswer, strict } from "../../schemas.ts";
import { Result } from "./run-schemas.ts";
import { RunParams, unknownRun } from "./runs.ts";
import { Type } from "../../type.ts";
import { decodePercent } from "../../../domain/text/url.ts";

/** Records, as pages of JSON or as one file; and stored files. */
export function resultRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/jobs/runs/:run_id/results",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The records of a run, oldest first; with format, all of them as a streamed file",
        operationId: "listResults",
        tags: ["results"],
        params: RunParams,
        querystring: pageQuery({ format: Type.Optional(oneOf(EXPORT_FORMATS)), only_changed: OnlyChanged }),
        response: {
          200: {
            description: "records; with format, a file",
            headers: LINK_HEADER,
            content: {
              "application/json": { schema: Type.Array(Result) },
              ...FILE_TYPES,
            },
          },
          404: unknownRun,
          409: notArchived,
        },
      },
    },
    async (request, reply) => {
      const { limit, format, only_changed: onlyChanged } = request.query;
      const id = request.params.run_id;
      if (format !== undefined) refuseBesideFormat(request, "limit", "cursor");
      if (format !== undefined) return sendExport(deps, { request, reply }, id, format, onlyChanged);
      refuseWithoutFormat(onlyChanged);
      const rows = await listResults(deps, id, { ...cursorFilter(request.query), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: (row) => row.id });
    },
  );

  api.get(
    "/artifacts/:artifact_id",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "A stored file, as an attachment",
        operationId: "getArtifact",
        tags: ["results"],
        params: strict({ artifact_id: IdParam }),
        response: {
          200: { description: "the bytes", content: { "*/*": { schema: Type.Unsafe<string>(Type.String()) } } },
          404: problemAnswer("there is no such file"),
        },
      },
    },
    async (request, reply) => {
      const id = request.params.artifact_id;
      const file = await showArtifact(deps, id);
      const stream = await deps.openArtifact(file.hash);
      reply
        .header("content-type", safeType(file.content_type))
        .header("content-length", file.size)
        .header("content-disposition", attachment(fileNameOf(file)));
      return sendBytes(request, reply, deps, stream);
    },
  );
}

/** Shared by the exports of crawls and runs. */
export const OnlyChanged = Type.Boolean({
  default: false,
  description:
    "with format, for runs of a saved crawl: only records of pages that are new or changed since the previous run, each with its change; for a first run, all records",
});

export function refuseWithoutFormat(onlyChanged: boolean): void {
  if (!onlyChanged) return;
  throw invalid([
    { path: "query.only_changed", message: "is only for exports: also set format, such as format=jsonl" },
  ]);
}

export async function sendExport(
  deps: ApiDeps,
  { request, reply }: { request: ApiRequest; reply: ApiReply },
  id: string,
  format: string,
  onlyChanged: boolean,
): Promise<ApiReply> {
  const { contentType, fileName, bytes } = await exportRun(deps, id, format, { onlyChanged });
  reply.header("content-type", contentType).header("content-disposition", attachment(fileName));
  // HEAD checks whether the file exists; no export is generated.
  return request.method === "HEAD" ? reply.send("") : sendBytes(request, reply, deps, bytes);
}

/** Media types of exports, except JSON, which lists share. */
export const FILE_TYPES = Object.fromEntries(
  EXPORT_FORMATS.filter((name) => name !== "json").map((name) => [
    formatNamed(name).contentType,
    { schema: Type.Unsafe<string>(Type.String()) },
  ]),
);

export const notArchived = problemAnswer("format is warc, but the run did not store raw responses");

/** A site's content type is untrusted: only plain types pass, none that a browser would execute. */
function safeType(type: string | null): string {
  const plain = type?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (/^image\/(?:png|jpeg|gif|webp|avif)$/.test(plain)) return plain;
  if (plain === "application/pdf" || plain === "application/json") return plain;
  return plain.startsWith("text/") ? "text/plain; charset=utf-8" : "application/octet-stream";
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "text/html": ".html",
  "application/json": ".json",
  "application/pdf": ".pdf",
  "application/warc": ".warc.gz",
};

/** The name a step set, or the last part of the download URL; screenshots and page copies have none. */
function fileNameOf({ id, role, url, content_type: type }: ArtifactView): string {
  const path = url.startsWith("step:") ? url : (URL.parse(url)?.pathname ?? "");
  const last = role === "file" ? decodePercent(path.slice(path.lastIndexOf("/") + 1)) : "";
  const name = last.trim() === "" ? id : last;
  return /\.[\p{L}\p{N}]{1,10}$/u.test(name) ? name : name + extensionOf(type);
}

function extensionOf(type: string | null): string {
  return EXTENSIONS[type?.split(";")[0]?.trim().toLowerCase() ?? ""] ?? "";
}
