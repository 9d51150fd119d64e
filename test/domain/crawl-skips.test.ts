import assert from "node:assert/strict";
import { test } from "node:test";
import { followPattern, paginationCut, paginationWarning } from "../../src/domain/crawl/crawl-skips.ts";
import { compileScope } from "../../src/domain/crawl/crawl-scope.ts";

test("the pattern that a warning proposes lets the link in, and the pages behind it", () => {
  const site = "https://news.example";
  for (const [link, next] of [
    ["/page/2", "/page/3"],
    ["/blog/page/2/", "/blog/page/13/"],
    ["/list?page=2", "/list?page=3"],
    ["/list?sort=up&p=2", "/list?sort=up&p=9"],
    ["/archive-2.html", "/archive-11.html"],
    ["/older", "/older"],
  ] as const) {
    const { ok: scope } = compileScope({
      url: `${site}/`,
      include: ["/2026/**"],
      follow: [followPattern(`${site}${link}`)],
    });
    for (const path of [link, next])
      assert.ok(scope?.decide(`${site}${path}`, { depth: 1, from: null }).follow, `${link} lets ${path} in`);
  }
});

test("a warning names the option that leaves the link", () => {
  const url = "https://news.example/page/2";
  const cut = (options: Parameters<typeof paginationCut>[0], pattern?: string) =>
    paginationWarning(
      paginationCut(options, { url, ...(pattern === undefined ? {} : { pattern }) }, "https://news.example/"),
    );
  assert.match(cut({ include: ["/2026/**"] }).message, /include "\/2026\/\*\*".*add "\/page\/\*" to follow/);
  assert.match(cut({ include: [], follow: ["/list/**"] }).message, /follow "\/list\/\*\*"/);
  assert.match(cut({ include: [] }, "/page/**").message, /exclude "\/page\/\*\*".*Remove the pattern from exclude/);
});
