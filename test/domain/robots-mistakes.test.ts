import assert from "node:assert/strict";
import { test } from "node:test";
import { crawlDelaySeconds, isAllowed, parseRobots, sitemaps } from "../../src/domain/site/robots.ts";

const FILE = "User-agent: *\nDisallow: /a\nCrawl-delay: 2\nSitemap: https://site.example/s.xml\n";

function isObeyed(source: string | Uint8Array): boolean {
  const robots = parseRobots(source, "orbweaver", "https://site.example/robots.txt");
  return !isAllowed(robots, "/a") && crawlDelaySeconds(robots) === 2 && sitemaps(robots).length === 1;
}

const utf8 = new TextEncoder();
const MARKED: readonly [mark: string, file: Uint8Array][] = [
  ["a byte order mark", utf8.encode(`\ufeff${FILE}`)],
  ["two of them", utf8.encode(`\ufeff\ufeff${FILE}`)],
  ["half of one", Buffer.concat([Buffer.from([0xef, 0xbb]), utf8.encode(FILE)])],
  ["a third of one", Buffer.concat([Buffer.from([0xef]), utf8.encode(FILE)])],
  ["one that was encoded twice", utf8.encode(`ï»¿${FILE}`)],
  ["one before every line", utf8.encode(FILE.replace(/^(?=.)/gm, "\ufeff"))],
  ["one encoded twice before every line", utf8.encode(FILE.replace(/^(?=.)/gm, " ï»¿"))],
  ["UTF-16 with a mark", Buffer.from(`\ufeff${FILE}`, "utf16le")],
  ["UTF-16 with a mark, the large end first", Buffer.from(`\ufeff${FILE}`, "utf16le").swap16()],
  ["UTF-16 without a mark", Buffer.from(FILE, "utf16le")],
  ["UTF-16 without a mark, the large end first", Buffer.from(FILE, "utf16le").swap16()],
];

for (const [mark, file] of MARKED) {
  test(`a robots.txt with ${mark} is obeyed`, () => assert.ok(isObeyed(file)));
}

const SPELLINGS: readonly [line: number, spelling: string][] = [
  [0, "Useragent: *"],
  [0, "User agent: *"],
  [0, "User-agent *"],
  [0, "User-agent: bingbot, *"],
  [0, "User-agent: bingbot,Orbweaver/1.0, other"],
  [1, "Dissallow: /a"],
  [1, "Dissalow: /a"],
  [1, "Disalow: /a"],
  [1, "Diasllow: /a"],
  [1, "Disallaw: /a"],
  [1, "disallow /a"],
  [1, "Disallow\t/a"],
  [0, "User-agents: *"],
  [0, 'User-agent: "*"'],
  [1, "Disalllow: /a"],
  [1, "Disallow：/a"],
  [1, "Disallow:: /a"],
  [1, 'Disallow: "/a"'],
  [1, "\u200bDisallow: /a"],
  [1, "Disallow: https://site.example/a"],
  [1, "Disallow: site.example/a"],
  [1, "Disallow /a # the colon is missing"],
  [1, "Disallow /a:b\nDisallow /a"],
  [2, "Crawldelay: 2"],
  [2, "Crawl delay: 2"],
  [2, "Crawl-delay 2"],
  [3, "Sitemaps: https://site.example/s.xml"],
  [3, "Sitemap: <https://site.example/s.xml>"],
  [3, "Site-map: https://site.example/s.xml"],
  [3, "Sitemap https://site.example/s.xml"],
];

for (const [line, spelling] of SPELLINGS) {
  test(`a robots.txt that says ${JSON.stringify(spelling)} is obeyed`, () => {
    assert.ok(isObeyed(FILE.split("\n").with(line, spelling).join("\n")));
  });
}

test("a list of names is for each of them, and for nobody else", () => {
  const text = "User-agent: bingbot, Orbweaver\nDisallow: /\n";
  for (const token of ["bingbot", "orbweaver"]) assert.equal(isAllowed(parseRobots(text, token), "/a"), false, token);
  assert.equal(isAllowed(parseRobots(text, "other"), "/a"), true);
});

test("a sentence is no rule", () => {
  for (const line of ["Disallow everything please", "Disallow", "Allowed: /a", "Please disallow: /a"]) {
    assert.ok(isAllowed(parseRobots(`User-agent: *\n${line}\n`, "x"), "/a"), line);
  }
});

test("a sitemap may be named by its path, or by its host without a scheme", () => {
  const named = (value: string) =>
    sitemaps(parseRobots(`Sitemap: ${value}`, "x", "https://www.site.example:8443/robots.txt"));
  const own = "https://www.site.example:8443";
  const cases: [value: string, address: string][] = [
    ["/s.xml", `${own}/s.xml`],
    ["s.xml", `${own}/s.xml`],
    ["maps/s.xml.gz", `${own}/maps/s.xml.gz`],
    ["//cdn.example/s.xml", "https://cdn.example/s.xml"],
    ["www.site.example/s.xml", "https://www.site.example/s.xml"],
    ["site.example/s.xml", "https://site.example/s.xml"],
    ["maps.site.example/s.xml", "https://maps.site.example/s.xml"],
    ["https:/cdn.example/s.xml", "https://cdn.example/s.xml"],
    ["http://cdn.example/s.xml", "http://cdn.example/s.xml"],
  ];
  for (const [value, address] of cases) assert.deepEqual(named(value), [address], value);
  for (const gap of [" ", ", "])
    assert.deepEqual(named(`https://a.example/s.xml${gap}https://a.example/t.xml`), [
      "https://a.example/s.xml",
      "https://a.example/t.xml",
    ]);
  assert.deepEqual(named("ftp://site.example/s.xml"), []);
  assert.deepEqual(named(""), []);
  assert.deepEqual(sitemaps(parseRobots("Sitemap: /s.xml", "x")), []);
});
