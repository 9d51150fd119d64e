/** The engine's side of a user's extractor: its input and its result. */
import { OrbError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { FetchFailure } from "../../../domain/run/failure.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { ExtractorPage } from "../../../extract/define-extractor.ts";
import { depthOf, MAX_JSON_DEPTH } from "../../../extract/json.ts";
import type { HandlerProcess } from "./process.ts";
import type { ExtractorDescription } from "./protocol.ts";

export async function executeExtractor(
  process: HandlerProcess,
  { name, timeoutSeconds }: ExtractorDescription,
  page: ExtractorPage,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<Record<string, JsonValue>[]> {
  const end = await process.execute({
    begin: { kind: "extract", extractor: name, page },
    timeoutSeconds,
    signal,
    log: log.with({ extractor: name }),
    serve: async (call) => {
      throw new OrbError("handler_failed", `context.${call} is not available in an extractor`);
    },
  });
  // The user's thread limits the size; the values come from user code and are checked here.
  const records = end.kind === "done" && typeof end.value === "string" ? (JSON.parse(end.value) as unknown) : null;
  if (!Array.isArray(records)) throw new FetchFailure("handler_bad_result", "it returned no records");
  for (const record of records as Record<string, JsonValue>[]) {
    if (Object.hasOwn(record, "__proto__"))
      throw new FetchFailure("handler_bad_result", "a record has a key named __proto__");
    if (depthOf(record) > MAX_JSON_DEPTH) throw new FetchFailure("handler_bad_result", "a record is nested too deep");
  }
  return records as Record<string, JsonValue>[];
}
