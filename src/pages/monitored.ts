/** What a monitor reads from a page. */
import { documentOf } from "../domain/page/page-options.ts";
import { type MonitorOptions, monitorRules } from "../domain/monitor/options.ts";
import type { Recipe } from "../domain/run/recipe.ts";
import { isReadFurther } from "./extract-further.ts";
import type { PageGot } from "./get-page.ts";

/** Sealed contents open for no other purpose. */
export const SEALED_FOR_MONITOR = "page of a monitor";

type Reading = Pick<Recipe, "document" | "browser" | "fields" | "items" | "extract" | "replay">;

/** See `monitorRules`. */
export function rulesOfMonitor(monitor: MonitorOptions, recipe: Reading): string {
  const { fields, items, extract, replay } = recipe;
  const { only_main_content: main = true, formats = [] } = documentOf(recipe) ?? {};
  const reading = {
    fields: { fields, items, extract, replay },
    markdown: main,
    screenshot: [formats.includes("screenshot_full"), recipe.browser?.mobile ?? false],
    text: null,
    links: null,
  }[monitor.what];
  return monitorRules(monitor, reading);
}

/** The content of a page that was read; null: there is none, such as a screenshot of a page that was fetched plainly. */
export function monitoredContent(
  { what }: Pick<MonitorOptions, "what">,
  { answer, judgement, failure }: PageGot,
): Buffer | null {
  // A sign-in instead of the page says nothing about the page.
  if (answer === null || judgement === null || failure !== null || judgement.signIn !== null) return null;
  if (what === "fields") return Buffer.from(JSON.stringify(judgement.records));
  if (what === "screenshot") {
    const picture = answer.taken?.screenshot ?? null;
    return picture === null ? null : Buffer.from(picture);
  }
  const text = judgement.extraction?.monitored;
  return text === undefined ? null : Buffer.from(text);
}

/** Whether the page may be fetched a second time: a model or an extractor is asked once. */
export function mayFetchAgain({ what, learn }: MonitorOptions, recipe: Reading): boolean {
  return learn && what !== "fields" && !isReadFurther(recipe as Recipe) && (recipe.browser?.actions ?? []).length === 0;
}
