import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { checkNamed } from "../../extract/extract-request.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "./deps.ts";

/** An extractor of the user's own has to be there, and to take these params. Their module is asked only where one is named. */
export async function requireExtractor(
  { extractors }: Pick<JobDeps, "extractors">,
  { extract = null }: { extract?: JsonValue },
  pathOf: (path: string) => string = (path) => path,
): Promise<void> {
  // What has no such name at all is refused by those who read the recipe.
  const { name } = (extract ?? {}) as { name?: unknown };
  if (typeof name !== "string") return;
  const problems = checkNamed(extract, await extractors.named());
  if (problems.length > 0) throw invalid(problems.map(({ path, message }) => ({ path: pathOf(path), message })));
}
