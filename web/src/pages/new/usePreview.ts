/** A page fetched once, and the matches of the rules in it, updated after each change. */
import { useEffect, useState } from "react";
import { type Answer, call, Problem } from "../../api/client.ts";
import { type Form, previewOf } from "./logic/new-form.ts";
import { itemsToJson, ruleProblems, rulesToFields } from "./logic/rules.ts";

export interface FetchedPage {
  url: string;
  html: string;
  isJson: boolean;
  title: string | null;
  status: number | null;
  strategy: string | null;
  /** The requested URL, if it differs from the page's. */
  asked: string | null;
  /** Why this may not be the right page. */
  warning: string | null;
}

export type Found = Answer<"previewExtraction">;

/** Fetches the page as a run of this form would. */
export async function fetchPage(url: string, form: Form): Promise<FetchedPage> {
  const body = { ...previewOf(form), url, include_html: true, fields: ["title"] };
  const got = await call("previewExtraction", { body });
  if (got.html === null)
    throw new Problem({
      status: got.http_status ?? 0,
      code: got.failure_code ?? "failed",
      message: got.error_message ?? "The page could not be fetched.",
      hint: "Check the URL, or choose another way to fetch pages under “More options”.",
    });
  const { final_url: final, content_type: type, title, http_status: status, strategy: used } = got;
  return {
    url: final ?? url,
    html: got.html,
    isJson: /\bjson\b/i.test(type ?? ""),
    title,
    status,
    strategy: used,
    asked: final === null || final === got.url ? null : (got.url ?? url),
    warning: got.warnings.find(({ rule }) => rule === "sign-in")?.message ?? null,
  };
}

export interface Preview {
  found: Found | null;
  /** The server's error for the rules. */
  problem: Problem | null;
  busy: boolean;
}

export function usePreview(page: FetchedPage | null, form: Form): Preview {
  const [preview, setPreview] = useState<Preview>({ found: null, problem: null, busy: false });
  const wrong = ruleProblems(form.rules);
  // Incomplete rules are not sent.
  const fields = rulesToFields(form.rules.filter(({ key }) => !wrong.has(key)));
  const wanted = JSON.stringify({ fields, items: itemsToJson(form.items), schema: parsed(form.schema) });
  useEffect(() => {
    if (page === null) return setPreview({ found: null, problem: null, busy: false });
    const gone = new AbortController();
    setPreview((old) => ({ ...old, busy: true }));
    const timer = setTimeout(() => {
      const { schema, ...rules } = JSON.parse(wanted) as Record<string, never>;
      const body = {
        html: page.html,
        url: page.url,
        ...(page.isJson ? { content_type: "application/json" } : {}),
        ...rules,
        ...(schema === null ? {} : { schema }),
      };
      call("previewExtraction", { body }, { signal: gone.signal }).then(
        (found) => {
          if (!gone.signal.aborted) setPreview({ found, problem: null, busy: false });
        },
        (error: unknown) => {
          if (!gone.signal.aborted)
            setPreview({ found: null, problem: error instanceof Problem ? error : null, busy: false });
        },
      );
    }, 300);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [page, wanted]);
  return preview;
}

function parsed(text: string): unknown {
  try {
    return text.trim() === "" ? null : (JSON.parse(text) as unknown);
  } catch {
    return null;
  }
}
