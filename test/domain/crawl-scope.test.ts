import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import {
  compileScope,
  type CrawlScope,
  type LeftReason,
  type ScopeOptions,
} from "../../src/domain/crawl/crawl-scope.ts";
import { fileEnding } from "../../src/domain/page/file-kinds.ts";
import { withoutSessionIds } from "../../src/domain/page/session-ids.ts";
import type { TrapState } from "../../src/domain/crawl/traps.ts";

const start = "https://shop.example/";

function scopeOf(options: Partial<ScopeOptions> = {}): CrawlScope {
  const { ok, errors } = compileScope({ url: start, ...options });
  assert.deepEqual(errors, undefined);
  return ok as CrawlScope;
}

/** The reason, or null when the link is followed. */
function why(
  link: string,
  options: Partial<ScopeOptions> = {},
  depth = 1,
  from: string | null = start,
): LeftReason | null {
  const decision = scopeOf(options).decide(link, { depth, from });
  return decision.follow ? null : decision.why;
}

const TABLE: [link: string, options: Partial<ScopeOptions>, expected: LeftReason | null][] = [
  // One site is one registrable domain.
  ["https://shop.example/a", {}, null],
  ["http://shop.example/a", {}, null],
  ["https://www.shop.example/a", {}, null],
  ["https://shop.example./a", {}, null],
  ["https://other.example/a", {}, "other_site"],
  ["https://shop.example.evil.test/a", {}, "other_site"],
  ["https://shop.example:8443/a", {}, "other_site"],
  ["https://other.example/a", { same_site: false }, null],
  ["https://b.co.uk/", { url: "https://a.co.uk/" }, "other_site"],
  ["https://www.a.co.uk/", { url: "https://a.co.uk/" }, null],
  ["https://two.github.io/", { url: "https://one.github.io/" }, "other_site"],
  ["http://localhost:3000/a", { url: "http://localhost:3000/" }, null],
  ["http://localhost:4000/a", { url: "http://localhost:3000/" }, "other_site"],
  ["http://127.0.0.2/a", { url: "http://127.0.0.1/" }, "other_site"],
  ["http://127.0.0.1/a", { url: "http://127.0.0.1/" }, null],
  ["http://[::1]/a", { url: "http://[::1]/" }, null],
  ["https://two.example/x", { url: ["https://one.example/", "https://two.example/"] }, null],
  // Nearer than the site.
  ["https://www.shop.example/a", { stay_within: "host" }, null],
  ["https://blog.shop.example/a", { stay_within: "host" }, "elsewhere"],
  ["https://blog.shop.example/a", { stay_within: "site" }, null],
  ["https://shop.example/docs/a", { url: "https://shop.example/docs", stay_within: "path" }, null],
  ["https://shop.example/a", { url: "https://shop.example/docs", stay_within: "path" }, "elsewhere"],
  ["https://blog.shop.example/docs/a", { url: "https://shop.example/docs", stay_within: "path" }, "elsewhere"],
  ["https://two.example/x/1", { url: ["https://one.example/", "https://two.example/x"], stay_within: "path" }, null],
  // What is no page at all.
  ["mailto:a@shop.example", {}, "not_http"],
  ["javascript:void(0)", {}, "not_http"],
  ["ftp://shop.example/a", {}, "not_http"],
  ["http://[::bad", {}, "not_http"],
  [`https://shop.example/${"a".repeat(8_200)}`, {}, "too_long"],
  [`https://shop.example/${"é".repeat(4_000)}`, {}, "too_long"],
  // Links may be relative to their page.
  ["../b", {}, null],
  ["//other.example/", {}, "other_site"],
  // Patterns.
  ["/blog/a", { include: ["/blog/**"] }, null],
  ["/news/a", { include: ["/blog/**"] }, "not_included"],
  ["/blog/a", { exclude: ["/blog/**"] }, "excluded"],
  ["/blog/a", { include: ["/blog/**"], exclude: ["/blog/a"] }, "excluded"],
  ["/blog/a;jsessionid=1234", { exclude: ["/blog/a"] }, "excluded"],
  ["https://other.example/blog/a", { include: ["/blog/**"] }, "other_site"],
  // Files.
  ["/a.pdf", {}, null],
  ["/a.docx", { include: ["/**"] }, null],
  ["/a.doc", {}, "file"],
  ["/a.pdf", { documents: false }, "file"],
  ["/a.PDF?download=1", { documents: false }, "file"],
  ["/a.jpg", { exclude: ["/x"] }, "file"],
  ["/docs/a.pdf", { include: ["/docs/**"] }, null],
  ["/docs/a.pdf", { include: ["/docs/**"], documents: false }, "file"],
  ["/docs/a.pdf", { include: ["/docs/**", "/**/*.pdf"], documents: false }, null],
  ["/docs/a.pdf", { include: ["/docs/**/*.{doc,pdf}"], documents: false }, null],
  ["/docs/a.pdf", { include: [String.raw`/\.pdf$/i`], documents: false }, null],
  ["/x/a.pdf", { include: ["/docs/**/*.pdf"] }, "not_included"],
  ["/a.html", {}, null],
  ["/wiki/Node.js", {}, null],
  ["/company/example.com", {}, null],
  ["/.zip", {}, null],
  // Traps that one URL shows.
  ["/a/b/a/b/a/b", {}, "trap_path"],
  [`/?${Array.from({ length: 31 }, (_, index) => `p${index}=1`).join("&")}`, {}, "trap_query"],
];
for (const [link, options, expected] of TABLE) {
  test(`${link.slice(0, 60)} with ${JSON.stringify(options)} is ${expected ?? "followed"}`, () => {
    assert.equal(why(link, options), expected);
  });
}

test("links beyond the depth are left, and only links that nothing else keeps out are left for that", () => {
  assert.equal(why("/a", { max_depth: 0 }), "depth");
  assert.equal(why("/a", { max_depth: 1 }), null);
  assert.equal(why("/a", { max_depth: 1 }, 2), "depth");
  assert.equal(why("/a", { max_depth: null }, 500), null);
  assert.equal(why("https://other.example/", { max_depth: 0 }), "other_site");
  assert.equal(why("/a.zip", { max_depth: 0 }), "file");
});

test("a start is always in scope, whatever else is said", () => {
  const url = ["https://shop.example/a/b/a/b/a/b/list.pdf", "https://other.example/"];
  const options = { url, include: ["/never/**"], exclude: ["/**"], max_depth: 0 };
  for (const each of url) assert.equal(why(each, options, 0, null), null);
  assert.equal(why("https://other.example/x", options, 0, null), "excluded");
});

test("each page has one key, and the address that is fetched is the one that was linked", () => {
  const scope = scopeOf();
  const link = "https://shop.example/a?b=2&a=1&utm_source=x&PHPSESSID=abc#part";
  const first = scope.decide(link, { depth: 1, from: null });
  assert.deepEqual(first, {
    follow: true,
    key: "1:GET:https://shop.example/a?a=1&b=2",
    url: "https://shop.example/a?b=2&a=1&utm_source=x&PHPSESSID=abc",
  });
  const again = scope.decide("/a?a=1&b=2&PHPSESSID=def", { depth: 3, from: start });
  assert.equal(again.follow && again.key, first.follow && first.key);
});

test("starts that are the same page are one start", () => {
  const { starts } = scopeOf({ url: [start, "https://SHOP.example:443/#top", "https://shop.example/?utm_source=x"] });
  assert.deepEqual(starts, [{ url: start, key: "1:GET:https://shop.example/" }]);
});

test("deciding counts nothing; what is added is counted, and counting goes on after a restart", () => {
  let scope = scopeOf();
  const link = (id: number) => `https://shop.example/day/${id}`;
  for (let id = 0; id < 3_000; id += 1) {
    assert.ok(scope.decide(link(5), { depth: 1, from: link(4) }).follow);
  }
  for (let id = 1; id <= 1_000; id += 1) {
    const place = { depth: 1, from: link(id - 1) };
    const decision = scope.decide(link(id), place);
    assert.ok(decision.follow, link(id));
    assert.equal(scope.admit(decision, place), null);
    if (id !== 500) continue;
    const traps = JSON.parse(JSON.stringify(scope.trapState())) as TrapState;
    scope = compileScope({ url: start }, { traps }).ok as CrawlScope;
  }
  const next = { depth: 1, from: link(1_000) };
  assert.deepEqual(scope.decide(link(1_001), next), { follow: false, why: "trap_pattern" });
  scope.earn(link(1_000));
  assert.ok(scope.decide(link(1_001), next).follow);
});

test("limits of traps can be given", () => {
  const { ok } = compileScope({ url: start }, { limits: { pathSegments: 2 } });
  assert.deepEqual(ok?.decide("/a/b/c", { depth: 1, from: start }), { follow: false, why: "trap_path" });
});

test("every mistake of a request is named at once, with its field", () => {
  const options = {
    url: [start, "shop.example", "ftp://a/", 7, `https://a/${"x".repeat(9_000)}`],
    max_depth: -1,
    include: ["/fine", "blog/**"],
    exclude: "x",
    same_site: "yes",
  } as unknown as ScopeOptions;
  assert.deepEqual(
    compileScope(options).errors?.map(({ path }) => path),
    ["url[1]", "url[2]", "url[3]", "url[4]", "include[1]", "exclude", "same_site", "max_depth"],
  );
  assert.deepEqual(compileScope({} as ScopeOptions).errors, [
    { path: "url", message: "is required: the start URL (or urls, a list)" },
  ]);
  assert.equal(compileScope({ url: [] }).errors?.[0]?.path, "url");
  assert.equal(compileScope({ url: start, max_depth: 1.5 }).errors?.[0]?.path, "max_depth");
});

test("no link makes it throw, and what is followed is decided the same way again", () => {
  const scope = scopeOf({ same_site: false, exclude: ["/**/x*"] });
  const link = fc.oneof(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.string({ unit: "binary" }));
  fc.assert(
    fc.property(link, fc.nat(5), (text, depth) => {
      const decision = scope.decide(text, { depth, from: start });
      if (!decision.follow) return;
      assert.deepEqual(scope.decide(decision.url, { depth, from: null }), decision);
      scope.admit(decision, { depth: 1, from: start });
    }),
    { numRuns: 2_000 },
  );
});

const SESSIONS: [given: string, expected: string][] = [
  ["/a;jsessionid=1A2B?x=1", "/a?x=1"],
  ["/a;JSESSIONID=1A2B/b", "/a/b"],
  ["/;jsessionid=1A2B", "/"],
  ["/a;v=1", "/a;v=1"],
  ["/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/a.aspx"],
  ["/(S(lit3py55t21z5v55vlm25s55))", "/"],
  ["/wiki/(S)", "/wiki/(S)"],
  ["/a?PHPSESSID=x", "/a"],
  ["/a?b=1&PHPSESSID=x&c=2", "/a?b=1&c=2"],
  ["/a?sid=5", "/a?sid=5"],
  ["/a?sid=0123456789abcdef0123", "/a"],
  ["/a?s=shoes", "/a?s=shoes"],
  ["/a?s=1234567890123456", "/a?s=1234567890123456"],
  ["/a?sid", "/a?sid"],
  ["/a?token=0123456789abcdef0123", "/a?token=0123456789abcdef0123"],
  ["/a?CFID=1&CFTOKEN=2&id=3", "/a?id=3"],
  ["/a?", "/a?"],
];
for (const [given, expected] of SESSIONS) {
  test(`a session id is left out of ${given}`, () => {
    assert.equal(withoutSessionIds(`https://shop.example${given}`), `https://shop.example${expected}`);
  });
}

test("endings of files are known in any case, in the last segment only", () => {
  assert.equal(fileEnding("/a/B.JPEG"), "jpeg");
  assert.equal(fileEnding("/a.zip/page"), null);
  assert.equal(fileEnding("/v1.2"), null);
  assert.equal(fileEnding("/"), null);
});

test("which pages are followed and which are read is said apart; include is both", () => {
  const fates = (options: Partial<ScopeOptions>) =>
    Object.fromEntries(
      [start, `${start}2026/a`, `${start}page/2`, `${start}about`].map((link) => {
        const scope = scopeOf(options);
        const { follow } = scope.decide(link, { depth: 1, from: start });
        return [link.slice(start.length), !follow ? "left" : scope.reads(link) ? "read" : "followed"];
      }),
    );
  const [news, lists] = [["/2026/**"], ["/page/*"]];
  assert.deepEqual(fates({}), { "": "read", "2026/a": "read", "page/2": "read", about: "read" });
  assert.deepEqual(fates({ include: news }), { "": "read", "2026/a": "read", "page/2": "left", about: "left" });
  assert.deepEqual(fates({ read: news }), {
    "": "followed",
    "2026/a": "read",
    "page/2": "followed",
    about: "followed",
  });
  assert.deepEqual(fates({ follow: lists }), { "": "read", "2026/a": "left", "page/2": "read", about: "left" });
  const apart = { "": "followed", "2026/a": "read", "page/2": "followed", about: "left" };
  assert.deepEqual(fates({ include: news, follow: lists }), apart);
  assert.deepEqual(fates({ follow: lists, read: news }), apart);
  assert.deepEqual(fates({ follow: lists, read: news, exclude: lists })["page/2"], "left");
  assert.equal(
    why(`${start}a.pdf`, { read: ["/**/*.pdf"], documents: false }),
    null,
    "a file that a pattern of read names",
  );
});
