/** Skipped pages and warnings of a crawl, for a terminal. */
import { type RunWarning, type SkipCounts, SKIP_REASONS, SKIP_WORDS } from "../../domain/crawl/crawl-skips.ts";
import { oneLine, paint, type Terminal } from "../print/output.ts";

/** Where a limit stopped discovery, the count is a lower bound. */
const AT_LEAST: ReadonlySet<string> = new Set(["depth", "page_limit"]);

/** "31 not_included (match none of include, follow and read), at least 4 depth (…)"; null: nothing was skipped. */
export function skippedWords(skipped: SkipCounts | null): string | null {
  const parts = SKIP_REASONS.flatMap((reason) => {
    const count = skipped?.[reason] ?? 0;
    return count === 0 ? [] : `${AT_LEAST.has(reason) ? "at least " : ""}${count} ${reason} (${SKIP_WORDS[reason]})`;
  });
  return parts.length === 0 ? null : parts.join(", ");
}

export function printSkipped(
  terminal: Terminal,
  { skipped, warnings }: { skipped: SkipCounts; warnings: readonly Pick<RunWarning, "code" | "message">[] },
): void {
  const words = skippedWords(skipped);
  if (words !== null) terminal.err(`found and not fetched: ${words}\n`);
  for (const { code, message } of warnings) {
    const hint = code === "sign_in" ? "; see orb sessions and --session" : "";
    terminal.err(`${paint(terminal, "yellow", "warning:")} ${oneLine(message)}${hint}\n`);
  }
}
