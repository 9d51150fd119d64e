import assert from "node:assert/strict";
import { test } from "node:test";
import { END_REASONS } from "../../src/domain/crawl/crawl-end.ts";
import { LEFT_REASONS, SCOPE_LIMITS } from "../../src/domain/crawl/crawl-scope.ts";
import { TRAP_LIMITS } from "../../src/domain/crawl/traps.ts";
import { compilePattern, PATTERN_LIMITS, patternTarget } from "../../src/domain/crawl/url-pattern.ts";
import { MOST_SITEMAPS } from "../../src/domain/crawl/crawl-sitemaps.ts";
import { SITEMAP_LIMITS } from "../../src/extract/sitemap.ts";
import { read } from "../support/source.ts";

const crawling = read("docs/crawling.md");
const scope = read("docs/crawl-scope.md");
const figure = (number: number) => number.toLocaleString("en-US");

/** The rows of the table whose first heading is this one. */
function rowsOf(page: string, heading: string): string[][] {
  const lines = page.slice(page.indexOf(`\n| ${heading} |`) + 1).split("\n");
  const rows = lines.slice(
    2,
    Math.max(
      lines.findIndex((line) => !line.startsWith("|")),
      2,
    ),
  );
  assert.ok(rows.length > 1, `a table of ${heading}`);
  return rows.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")),
  );
}

test("docs/crawl-scope.md: every example of a pattern is true", () => {
  for (const [pattern = "", matches = "", other = ""] of rowsOf(scope, "pattern")) {
    const compiled = compilePattern(pattern);
    assert.equal(compiled.matches(patternTarget(new URL(matches))), true, `${pattern} ${matches}`);
    assert.equal(compiled.matches(patternTarget(new URL(other))), false, `${pattern} ${other}`);
  }
});

test("docs/crawl-scope.md names every reason to skip a link in the order of the checks, docs/crawling.md every end reason", () => {
  assert.deepEqual(
    rowsOf(scope, "reason").map(([reason]) => reason),
    LEFT_REASONS,
  );
  assert.deepEqual(
    rowsOf(crawling, "`end_reason`")
      .map(([reason]) => reason)
      .sort(),
    [...END_REASONS].sort(),
  );
});

test("docs/crawling.md and docs/crawl-scope.md give the limits that hold", () => {
  assert.ok(crawling.includes(`a list of up to ${figure(SCOPE_LIMITS.starts)}`));
  for (const sentence of [
    `up to ${PATTERN_LIMITS.patterns} patterns of up to ${figure(PATTERN_LIMITS.length)} characters`,
    `more than ${figure(TRAP_LIMITS.urlLength)} characters`,
    `| segments of a path | ${TRAP_LIMITS.pathSegments} |`,
    `| parameters of a query | ${TRAP_LIMITS.queryParameters} |`,
    `A path may have ${figure(TRAP_LIMITS.queriesPerPath)} pages`,
    `Each URL pattern may have ${figure(TRAP_LIMITS.ownKindPerPattern)} such pages`,
    `never exceeds ${figure(TRAP_LIMITS.datedPerPattern)}`,
    `${figure(SITEMAP_LIMITS.entries)} entries and ${SITEMAP_LIMITS.characters / 1024 / 1024} MiB of text per file`,
    `${figure(MOST_SITEMAPS)} files per crawl`,
  ]) {
    assert.ok(scope.replace(/\s+/g, " ").includes(sentence), sentence);
  }
});
