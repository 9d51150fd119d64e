import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { compileGlob } from "../../src/domain/crawl/glob.ts";
import { compilePattern, compilePatterns, PATTERN_LIMITS, patternTarget } from "../../src/domain/crawl/url-pattern.ts";

const site = "https://shop.example";
const matches = (pattern: string, url: string) =>
  compilePattern(pattern).matches(patternTarget(new URL(url.startsWith("/") ? site + url : url)));

const TABLE: [pattern: string, url: string, expected: boolean][] = [
  // Paths, on any site.
  ["/blog", "/blog", true],
  ["/blog", "/blog/", false],
  ["/blog", "http://other.example:8080/blog", true],
  ["/blog/*", "/blog/spring", true],
  ["/blog/*", "/blog/", true],
  ["/blog/*", "/blog/2024/spring", false],
  ["/blog/**", "/blog/2024/spring", true],
  ["/blog/**", "/blog/", true],
  ["/blog/**", "/blog", true],
  ["/blog/**", "/blogs", false],
  ["/blog/**", "/a/blog/b", false],
  ["/**", "/", true],
  ["/**/print", "/print", true],
  ["/**/print", "/a/b/print", true],
  ["/**/print", "/a/blueprint", false],
  ["/a/**/b", "/a/b", true],
  ["/a/**/b", "/a/x/y/b", true],
  ["/a/**/b", "/ab", false],
  ["/a**b", "/a/x/b", true],
  ["/item-*.html", "/item-12.html", true],
  ["/item-*.html", "/item-1/2.html", false],
  ["/item-***", "/item-1/2", true],
  ["/Blog", "/blog", false],
  // Whole URLs.
  ["https://shop.example", "/", true],
  ["https://shop.example", "/a", false],
  ["https://shop.example/**", "/a/b", true],
  ["https://shop.example/**", "http://shop.example/a/b", false],
  ["https://shop.example/**", "https://shop.example.evil/a", false],
  ["http{,s}://shop.example/**", "http://shop.example/a", true],
  ["*://shop.example/**", "https://shop.example/a", true],
  ["https://*.shop.example/**", "https://a.b.shop.example/x", true],
  ["https://*.shop.example/**", "https://shop.example/x", false],
  ["https://*.shop.example/**", "https://evil/.shop.example/x", false],
  ["HTTPS://Shop.Example:443/A/**", "/A/b", true],
  ["https://münchen.example/**", "https://xn--mnchen-3ya.example/a", true],
  ["**/print/**", "/a/print/b", true],
  ["**.pdf", "/a/b.pdf", true],
  // Alternatives.
  ["/{blog,news}/**", "/news/a", true],
  ["/{blog,news}/**", "/shop/a", false],
  ["{/blog,/news}/**", "/news/a", true],
  ["{/blog/**,/news}", "/blog/a", true],
  ["{/blog/**,/news}", "/news", true],
  ["{/blog/**,/news}", "/news/a", false],
  ["/a{,/b{,/c}}", "/a/b/c", true],
  ["/a{,/b{,/c}}", "/a/c", false],
  ["/{blog}/", "/blog/", true],
  ["/a,b", "/a,b", true],
  // Queries: a glob without ? does not look at them, one with ? describes them.
  ["/list", "/list?page=2", true],
  ["/list/**", "/list/a?page=2", true],
  ["/list?page=*", "/list?page=2", true],
  ["/list?page=*", "/list", false],
  ["/list?page=*", "/list?page=2&sort=up", false],
  ["/list?page=*", "/list?page=2&utm_source=mail", true],
  ["/list?page=*&sort=*", "/list?sort=up&page=2", true],
  ["/list?sort=*&page=*", "/list?sort=up&page=2", true],
  ["/list?**sort=**", "/list?page=2&sort=up", true],
  ["/list?u=*", "/list?u=/a/b", true],
  ["/**?**", "/list/a?x", true],
  ["/**?**", "/list/a", false],
  ["/l?st", "/list", false],
  ["/a?u=https://x.example/*", "/a?u=https://x.example/y", true],
  // Spellings.
  ["/café/*", "/caf%C3%A9/a", true],
  ["/caf%c3%a9/*", "/café/a", true],
  ["/a b", "/a%20b", true],
  ["/~me", "/%7Eme", true],
  ["/it's?q='x'", "/it's?q='x'", true],
  ["/a%2Fb", "/a/b", false],
  ["/a?q=%7Bx%7D", "/a?q={x}", true],
  ["/a?x[y]=*", "/a?x%5By%5D=1", true],
  ["/a?x%5by%5d=*", "/a?x[y]=1", true],
  ["/a[1]", "/a%5B1%5D", true],
  ["https://[::1]/**", "https://[::1]/a", true],
  ["https://shop.example/**", "https://shop.example./a", true],
  ["/wiki/C++", "/wiki/C++", true],
  ["/wiki/Orb_(spider)", "/wiki/Orb_(spider)", true],
  // Regular expressions.
  [String.raw`/\/item\/\d+$/`, "/item/12", true],
  [String.raw`/\/item\/\d+$/`, "/item/12?x=1", false],
  [String.raw`/\/item\/\d+$/`, "/item/12?utm_source=mail", true],
  ["/PRINT/i", "/a/print", true],
  ["/(PRINT)/", "/a/print", false],
  [String.raw`/^https:\/\/shop\.example\/$/`, "/", true],
  ["/[/]item[/]/", "/item/3", true],
  ["/.*foo/", "/a/foo/b", true],
  ["/tag/*/i", "/tag/a/i", true],
  ["/docs/v2/", "/docs/v2/", true],
  ["/*/", "/docs/", true],
];

for (const [pattern, url, expected] of TABLE) {
  test(`the pattern ${pattern} ${expected ? "matches" : "does not match"} ${url}`, () => {
    assert.equal(matches(pattern, url), expected);
  });
}

test("user names, passwords and fragments of a URL are not looked at", () => {
  assert.ok(matches("https://shop.example/a", "https://user:secret@shop.example/a#b"));
});

test("every mistake in a list is named by its place, with what to do", () => {
  const wrong: [unknown, RegExp][] = [
    ["", /must not be empty/],
    [7, /expected a string/],
    ["/{a,b", /has a \{ without a \}/],
    ["/a}b", /has a \} without a \{/],
    ["blog/**", /must begin with \/, \*\* or https:\/\/, as in "\/\*\*\/blog\/\*\*"/],
    ["*.pdf", /must begin with/],
    ["?page=*", /as in "\/\*\*\?page=\*"/],
    ["{/a,b}", /must begin with/],
    ["//cdn.example/**", /write "https:\/\/cdn\.example\/\*\*"/],
    ["/blog/", /"\/blog\/\*\*" for all pages below that path, "\/\{blog\}\/" for that page only/],
    ["/a#b", /fragment/],
    ["/(a/i", /is not a supported regular expression: missing/],
    ["/a(?=b)/", /lookaround and back-references are not supported/],
    [String.raw`/\d+/g`, /flags "g".*only i is supported/],
    ["https://a b/**", /no valid host/],
    ["https://user@shop.example/", /user name/],
    ["https://*.münchen.example/", /punycode/],
    [`/${"a".repeat(PATTERN_LIMITS.length)}`, /longer than 1000/],
    [`/${"{".repeat(30)}a${"}".repeat(30)}`, /nested more than 20/],
  ];
  const { errors } = compilePatterns(["/fine/**", ...wrong.map(([text]) => text)], "include");
  assert.deepEqual(
    errors?.map(({ path }) => path),
    wrong.map((_, index) => `include[${index + 1}]`),
  );
  for (const [index, [, expected]] of wrong.entries()) assert.match(errors?.[index]?.message ?? "", expected);
});

test("a list may be missing, and must be a list of a sane length", () => {
  assert.deepEqual(compilePatterns(undefined, "include"), { ok: [] });
  assert.deepEqual(compilePatterns(null, "include"), { ok: [] });
  assert.equal(compilePatterns("/a", "exclude").errors?.[0]?.path, "exclude");
  const many = Array.from({ length: PATTERN_LIMITS.patterns + 1 }, () => "/a");
  assert.match(compilePatterns(many, "include").errors?.[0]?.message ?? "", /at most 200/);
});

/** What a glob means, as a regular expression of the language. */
function bySpec(glob: string): RegExp {
  const signs: [RegExp, string | ((...found: string[]) => string)][] = [
    [/^\/\*\*\//, "\\/(?:[^?]*\\/)?"],
    [/^\/\*\*(?=$|[,}])/, "(?:\\/[^?]*)?"],
    [/^\*\*/, "[^?]*"],
    [/^\*/, "[^/?]*"],
    [/^\{/, "(?:"],
    [/^\}/, ")"],
    [/^,/, "|"],
    [/^[^]/, (char) => char.replace(/[/.]/, "\\$&")],
  ];
  let [rest, out] = [glob, ""];
  while (rest !== "") {
    const [sign, meaning] = signs.find(([form]) => form.test(rest)) as (typeof signs)[number];
    const [found] = sign.exec(rest) as unknown as [string];
    out += typeof meaning === "string" ? meaning : meaning(found);
    rest = rest.slice(found.length);
  }
  return new RegExp(`^${out}$`);
}

test("matching is what stars and braces mean", () => {
  const plain = fc.array(fc.constantFrom("a", "b", "/", "*", "**", "/**", "/**/"), { maxLength: 6 });
  const braces = fc
    .array(plain, { minLength: 1, maxLength: 3 })
    .map((ways) => `{${ways.map((way) => way.join("")).join(",")}}`);
  const glob = fc
    .array(
      fc.oneof(
        plain.map((parts) => parts.join("")),
        braces,
      ),
      { maxLength: 3 },
    )
    .map((parts) => `/${parts.join("")}`.replace(/\*{3,}/g, "**"));
  const path = fc.array(fc.constantFrom("a", "b", "/"), { maxLength: 10 }).map((parts) => `/${parts.join("")}`);
  fc.assert(
    fc.property(glob, path, (pattern, where) => {
      assert.equal(compileGlob(pattern).matches(where), bySpec(pattern).test(where));
    }),
    { numRuns: 5_000 },
  );
});

test("no pattern and no URL makes it throw anything but a sentence", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.webUrl({ withQueryParameters: true }),
      (text, url) => {
        for (const pattern of [text, `/${text}`, `/${text}/i`, `https://${text}`]) {
          const { ok, errors } = compilePatterns([pattern], "include");
          if (errors !== undefined)
            assert.ok(errors.every(({ path, message }) => path === "include[0]" && message !== ""));
          else for (const one of ok) assert.equal(typeof one.matches(patternTarget(new URL(url))), "boolean");
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test("patterns and URLs made to be slow come to an end", () => {
  const long = `/${"a".repeat(8_000)}`;
  for (const pattern of [
    `/${"*a".repeat(400)}b`,
    `/${"**a".repeat(300)}b`,
    `/${"{,a}".repeat(240)}b`,
    `/${"{a,a*}".repeat(160)}b`,
    `${"/**/a".repeat(190)}/b`,
    "/(a+)+b/",
    "/(a|aa)+$b/",
  ]) {
    assert.equal(matches(pattern, long), false, pattern.slice(0, 20));
  }
});
