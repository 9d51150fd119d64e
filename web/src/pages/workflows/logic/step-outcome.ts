/** Summary of a completed step: its raw result is for programs. */
import { bytes, capital, count, fullNumber, plainUrl } from "../../../logic/format.ts";

export interface Outcome {
  task_name: string;
  task_type: string;
  status: string;
  result: Readonly<Record<string, unknown>> | null;
  items_count: number | null;
}

type Numbers = (name: string) => number;

/** Empty for a step that is not completed, or of an unknown kind without items. */
export function outcomeWords({ task_type, status, result, items_count }: Outcome): string {
  if (status !== "completed") return "";
  const number = numbersOf(result);
  const words = result === null ? undefined : WORDS[task_type]?.(number, result);
  return words ?? (items_count === null || items_count === 0 ? "" : count(items_count, "record"));
}

const numbersOf =
  (result: Outcome["result"]): Numbers =>
  (name) => {
    const value = result?.[name];
    return typeof value === "number" ? value : 0;
  };

const list = (...parts: readonly string[]) => parts.filter((part) => part !== "").join(", ");
const some = (value: number, word: string) => (value === 0 ? "" : `${fullNumber(value)} ${word}`);
const pages = (number: Numbers) => list(count(number("pages"), "page"), some(number("failed"), "failed"));

const WORDS: Readonly<Record<string, (number: Numbers, result: Readonly<Record<string, unknown>>) => string>> = {
  crawl: pages,
  scrape: pages,
  compare: (number, { first_run: isFirst }) => {
    const changes = list(
      some(number("changed"), "changed"),
      some(number("added"), "new"),
      some(number("removed"), "gone"),
    );
    return isFirst === true ? "First run, nothing to compare with" : changes === "" ? "No changes" : changes;
  },
  download: (number) => list(`${fullNumber(number("downloaded"))} downloaded`, some(number("failed"), "failed")),
  validate: (number) => list(`${fullNumber(number("valid"))} valid`, some(number("invalid"), "invalid")),
  filter: (number) => list(`${fullNumber(number("kept"))} kept`, some(number("removed"), "dropped")),
  deduplicate: (number) =>
    list(`${fullNumber(number("kept"))} kept`, number("removed") === 0 ? "" : count(number("removed"), "duplicate")),
  label: (number) =>
    list(
      `${fullNumber(number("labelled"))} labelled`,
      some(number("unlabelled"), "unlabelled"),
      some(number("failed"), "failed"),
    ),
  export: (number) => list(count(number("count"), "record"), number("bytes") === 0 ? "" : bytes(number("bytes"))),
  webhook: (number) => (number("status") === 0 ? "" : `Sent, HTTP ${number("status")}`),
};

/** Number of pages named. */
const MOST_NAMED = 3;

/** What a workflow tolerated or did in vain: it completed, but needs attention. */
export function outcomeNotes(steps: readonly Outcome[]): { step: string; text: string }[] {
  return steps.flatMap(({ task_name: step, task_type: kind, status, result }) => {
    if (status !== "completed" || result === null) return [];
    const number = numbersOf(result);
    const failed = number("failed");
    if ((kind === "crawl" || kind === "scrape") && failed > 0)
      return [
        { step, text: `${fullNumber(failed)} of ${count(number("pages") + failed, "page")} failed${named(result)}` },
      ];
    if (kind === "download" && failed > 0)
      return [{ step, text: `${fullNumber(failed)} of ${count(number("downloaded") + failed, "download")} failed` }];
    if (kind === "validate" && number("invalid") > 0) {
      const all = number("valid") + number("invalid");
      return [{ step, text: `${fullNumber(number("invalid"))} of ${count(all, "file")} invalid${reasons(result)}` }];
    }
    if (kind === "filter" && number("removed") > 0) {
      const all = number("kept") + number("removed");
      return [{ step, text: `${fullNumber(number("removed"))} of ${count(all, "record")} dropped${reasons(result)}` }];
    }
    return kind === "export" && result["count"] === 0 ? [{ step, text: "the export is empty: no records" }] : [];
  });
}

function named({ failed_pages: failed }: Readonly<Record<string, unknown>>): string {
  if (!Array.isArray(failed) || failed.length === 0) return "";
  const pages = (failed as { url: string; error: string }[]).map(({ url, error }) => `${plainUrl(url)} (${error})`);
  const more = pages.length > MOST_NAMED ? `, and ${fullNumber(pages.length - MOST_NAMED)} more` : "";
  return `: ${pages.slice(0, MOST_NAMED).join(", ")}${more}`;
}

function reasons({ reasons: counts }: Readonly<Record<string, unknown>>): string {
  const names = typeof counts === "object" && counts !== null ? Object.entries(counts as Record<string, number>) : [];
  if (names.length === 0) return "";
  return `: ${names.map(([name, times]) => `${capital(name.replaceAll("_", " ")).toLowerCase()} (${times})`).join(", ")}`;
}
