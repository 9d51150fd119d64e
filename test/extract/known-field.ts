import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { extractPage } from "../../src/extract/page.ts";
import { compilePlan } from "../../src/extract/plan.ts";

export const PAGE = "https://site.example/a/b";

/** A well-known field of a page. */
export function known(name: string, html: string, url: string = PAGE): JsonValue | undefined {
  const page = { body: html, contentType: "text/html", url };
  return extractPage(page, compilePlan({ fields: [name] })).records[0]?.[name];
}

export const ld = (value: object) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
export const og = (property: string, content: string) => `<meta property="${property}" content="${content}">`;
