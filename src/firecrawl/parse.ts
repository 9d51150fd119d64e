/** A file that the caller uploads, read while it waits; nothing is stored. */
import { limitsOf } from "../api/deps.ts";
import type { ApiInstance, ApiRequest } from "../api/instance.ts";
import { InputReader } from "../domain/text/input-reader.ts";
import { readFile } from "../orchestrator/read-file.ts";
import type { FirecrawlDeps } from "./deps.ts";
import { toDocument } from "./document.ts";
import { badRequest, FirecrawlFault, rejectInvalid } from "./fault.ts";
import { codeOf } from "./page-errors.ts";
import { readScrapeOptions, type ScrapeAsk, type Version } from "./scrape-options.ts";

interface Upload {
  bytes: Uint8Array;
  name: string;
  contentType: string | null;
  ask: ScrapeAsk;
}

/** A document of 50 MB, with its options. */
const UPLOAD_FACTOR = 4;

export function addParse(api: ApiInstance, deps: FirecrawlDeps, version: Version): void {
  api.addContentTypeParser("multipart/form-data", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  const options = {
    config: { role: "operator" },
    schema: { hide: true, body: {} },
    bodyLimit: UPLOAD_FACTOR * limitsOf(deps).workflowBytes,
  } as const;
  api.post("/parse", options, async (request, reply) => {
    const { ask, ...file } = await readUpload(request, deps, version);
    request.raw.socket.setTimeout(ask.timeoutMs + 60_000);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    const late = deps.clock.after(ask.timeoutMs, () => gone.abort(tooLate(ask.timeoutMs)), { keepAlive: true });
    try {
      const { got, records } = await readFile(deps, file, ask.recipe, gone.signal);
      if (got.failure !== null) {
        const { code, reason, message } = got.failure;
        const details = { failure_code: code, failure_reason: reason };
        throw new FirecrawlFault(500, message, { code: codeOf(got.failure), details });
      }
      const result = {
        id: "",
        taskId: deps.random.uuid(),
        runId: "",
        url: null,
        ordinal: 0,
        data: records[0] ?? {},
        createdAt: 0,
      };
      const document = toDocument(result, { base: "", mark: { kind: "scrape", json: ask.json } });
      return { success: true, data: { ...document, metadata: aboutFile(document.metadata, file.name) } };
    } finally {
      late.cancel();
    }
  });
}

function tooLate(timeoutMs: number): FirecrawlFault {
  return new FirecrawlFault(408, `the file was not read after ${timeoutMs} ms`, { code: "SCRAPE_TIMEOUT" });
}

/** A file has a name instead of an address. */
function aboutFile(metadata: Record<string, unknown>, name: string): Record<string, unknown> {
  return { ...metadata, sourceURL: name, url: name };
}

async function readUpload(request: ApiRequest, { extractors }: FirecrawlDeps, version: Version): Promise<Upload> {
  const type = request.headers["content-type"] ?? "";
  if (!Buffer.isBuffer(request.body)) throw badRequest([{ path: "file", message: "expected multipart/form-data" }]);
  const form = await new Response(request.body as Buffer<ArrayBuffer>, { headers: { "content-type": type } })
    .formData()
    .catch(() => null);
  const file = form?.get("file") ?? null;
  if (file === null || typeof file === "string")
    throw badRequest([{ path: "file", message: "is required: the file to read" }]);
  const reader = new InputReader(optionsOf(form?.get("options") ?? null));
  const ask = readScrapeOptions(reader, version, extractors);
  for (const [name, asked] of [
    ["formats", ask.recipe.document?.formats?.some((format) => format.startsWith("screenshot"))],
    ["actions", ask.recipe.browser !== undefined],
    ["headers", ask.recipe.headers !== undefined],
  ] as const)
    if (asked === true) reader.addError(name, "is not supported for files: it needs a page");
  rejectInvalid(reader);
  const contentType = file.type === "" ? null : file.type;
  return { bytes: new Uint8Array(await file.arrayBuffer()), name: file.name, contentType, ask };
}

function optionsOf(text: unknown): unknown {
  if (typeof text !== "string" || text === "") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badRequest([{ path: "options", message: "expected JSON" }]);
  }
}
