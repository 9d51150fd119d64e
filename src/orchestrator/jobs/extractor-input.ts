import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { checkNamed } from "../../extract/extract-request.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "./deps.ts";

/** A named extractor must exist and accept these params. The user's module is loaded only when one is named. */
export async function requireExtractor(
  { extractors }: Pick<JobDeps, "extractors">,
  { extract = null }: { extract?: JsonValue },
  pathOf: (path: string) => string = (path) => path,
): Promise<void> {
  // Invalid names are rejected when the recipe is parsed.
  const { name } = (extract ?? {}) as { name?: unknown };
  if (typeof name !== "string") return;
  const problems = checkNamed(extract, await extractors.named());
  if (problems.length > 0) throw invalid(problems.map(({ path, message }) => ({ path: pathOf(path), message })));
}
