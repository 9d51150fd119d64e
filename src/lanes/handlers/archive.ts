import type { CrawlOptions } from "../../domain/crawl/crawl-options.ts";
import type { Handled } from "../../domain/run/outcome.ts";
import type { ExchangeKeeper } from "../../pages/exchange.ts";
import type { PageGot } from "../../pages/get-page.ts";

/** Whether the crawl writes an archive. */
export function isArchived({ export_format: format }: Pick<CrawlOptions, "export_format">): boolean {
  return format === "warc";
}

/** Stores what the server sent and adds it to the outcome. Error responses belong into an archive as well. */
export async function withExchange(handled: Handled, { answer }: PageGot, keeper: ExchangeKeeper): Promise<Handled> {
  if (answer === null || handled.kind === "handed_back") return handled;
  const file = await keeper.keep(answer);
  if (handled.kind === "completed") return { ...handled, artifacts: [...handled.artifacts, file] };
  return { ...handled, report: { ...handled.report, evidence: [...(handled.report?.evidence ?? []), file] } };
}
