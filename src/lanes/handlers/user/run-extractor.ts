/** Runs an extractor on one page, in the worker thread. */
import type { CustomExtractor, ExtractorPage } from "../../../extract/define-extractor.ts";
import { badResult, type Channel, toJson } from "./channel.ts";

const MAX_RECORDS = 10_000;
/** For all records of a page, as JSON. */
const MAX_CHARS = 8 * 1024 * 1024;

/** The records as a JSON list. */
export async function runExtractor(
  channel: Channel,
  extractor: CustomExtractor,
  page: ExtractorPage,
  signal: AbortSignal,
): Promise<{ value: string }> {
  const returned: unknown = await extractor.run(page as never, { signal, log: channel.log() });
  const records = returned === undefined || returned === null ? [] : Array.isArray(returned) ? returned : [returned];
  if (records.length > MAX_RECORDS)
    throw badResult(`it returned ${records.length} records, at most ${MAX_RECORDS} are allowed`);
  for (const record of records)
    if (typeof record !== "object" || record === null || Array.isArray(record))
      throw badResult(
        `a record must be an object, not ${Array.isArray(record) ? "a list" : String(record).slice(0, 100)}`,
      );
  return { value: toJson("what it returned", records, MAX_CHARS) };
}
