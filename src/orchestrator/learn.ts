import type { ExamplePage, Lesson, RecordsOnPage } from "../extract/learn/lesson.ts";
import { invalid } from "./invalid.ts";
import { type PreviewDeps, type PreviewInput, previewExtraction } from "./preview.ts";

/** A value as the page shows it, a list or part of one, or null: the page has none. */
type Example = string | number | readonly (string | number)[] | null;

export interface LearnInput extends Pick<PreviewInput, "strategy" | "timeout_seconds" | "session_id"> {
  pages: readonly {
    url?: string;
    /** Page content; it is not fetched then. */
    html?: string;
    /** Content type of `html`. */
    content_type?: string;
    examples?: Readonly<Record<string, Example>>;
  }[];
  /** Values that appear on some of the pages. */
  examples?: Readonly<Record<string, Example>>;
  /** Whether each page is one record, or a list of them; absent: decided by the examples. */
  records?: RecordsOnPage;
}

export interface LearnView extends Lesson {
  pages: { url: string | null; final_url: string | null; http_status: number | null; title: string | null }[];
  duration_ms: number;
}

const HTML = "text/html; charset=utf-8";

/** Finds extraction rules that produce the wanted values. Stores nothing. */
export async function learnFromExamples(deps: PreviewDeps, input: LearnInput, signal: AbortSignal): Promise<LearnView> {
  const begun = deps.clock.monotonic();
  if (![input, ...input.pages].some(({ examples = {} }) => Object.keys(examples).length > 0))
    throw invalid([{ path: "examples", message: 'expected example values, such as {"title": "Blue lamp"}' }]);
  const got = [];
  for (const index of input.pages.keys()) got.push(await pageOf(deps, input, index, signal));
  const pages = got.map(({ page }) => page);
  const { reader } = await deps.pages();
  const { records } = input;
  const order = { pages, examples: textsOf(input.examples), ...(records === undefined ? {} : { records }) };
  const lesson = await reader.learn(order, { signal });
  return { ...lesson, pages: got.map(({ shown }) => shown), duration_ms: Math.round(deps.clock.monotonic() - begun) };
}

interface Got {
  page: ExamplePage;
  shown: LearnView["pages"][number];
}

async function pageOf(deps: PreviewDeps, input: LearnInput, index: number, signal: AbortSignal): Promise<Got> {
  const { url, html, content_type: contentType, examples } = input.pages[index]!;
  if (html === undefined && url === undefined)
    throw invalid([{ path: `pages[${index}].url`, message: "is required, unless html is set" }]);
  const { strategy, timeout_seconds: timeout, session_id: session } = input;
  if (url !== undefined && !/^https?:\/\//i.test(url))
    throw invalid([{ path: `pages[${index}].url`, message: "expected an absolute http or https URL" }]);
  const preview = await previewExtraction(
    deps,
    {
      ...(url === undefined ? {} : { url }),
      ...(html === undefined ? { include_html: true } : { html }),
      ...(contentType === undefined ? {} : { content_type: contentType }),
      ...(strategy === undefined ? {} : { strategy }),
      ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
      ...(session === undefined ? {} : { session_id: session }),
      fields: ["title"],
    },
    signal,
  );
  const body = html ?? preview.html;
  if (body === null || (preview.failure_code !== null && preview.failure_code !== "extraction"))
    throw invalid([{ path: `pages[${index}].url`, message: preview.error_message ?? "the page could not be fetched" }]);
  const { final_url: finalUrl, http_status: status, title } = preview;
  const kind = contentType ?? preview.content_type ?? HTML;
  return {
    page: { input: { body, contentType: kind, url: finalUrl ?? url ?? null }, examples: textsOf(examples) },
    shown: { url: preview.url, final_url: finalUrl, http_status: status, title },
  };
}

function textsOf(examples: Readonly<Record<string, Example>> = {}): Record<string, string[]> {
  const texts = (example: Example) => (example === null ? [] : [example].flat().map(String));
  return Object.fromEntries(Object.entries(examples).map(([field, example]) => [field, texts(example)]));
}
