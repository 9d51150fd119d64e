import assert from "node:assert/strict";
import { test } from "node:test";
import { ALLOW_ALL, crawlDelaySeconds, isAllowed, parseRobots, sitemaps } from "../../src/domain/site/robots.ts";

const allowed = (text: string, path: string, token = "orbweaver") => isAllowed(parseRobots(text, token), path);
const rules = (...lines: string[]) => ["User-agent: *", ...lines].join("\n");

test("a site without a word about it allows everything", () => {
  assert.ok(isAllowed(ALLOW_ALL, "https://site.example/any?thing"));
  for (const text of ["", "\n\n", "<!doctype html><title>Not found</title>", "User-agent: *\nDisallow:"]) {
    assert.ok(allowed(text, "/a"), text);
  }
});

test("RFC 9309, 5.1: each crawler has the group of its name", () => {
  const text = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`;
  const may = (token: string, path: string) => allowed(text, `https://site.example${path}`, token);
  assert.equal(may("other", "/pictures/a.gif"), false);
  assert.equal(may("other", "/pictures/a.gif?x"), true);
  assert.equal(may("other", "/example/page.html"), false);
  assert.equal(may("other", "/publications/"), true);
  assert.equal(may("foobot", "/"), false);
  assert.equal(may("FooBot", "/example/page.html"), true);
  assert.equal(may("foobot/2.0", "/example/allowed.gif"), true);
  assert.equal(may("foobot", "/publications/"), false);
  for (const token of ["barbot", "bazbot"]) {
    assert.equal(may(token, "/example/page.html"), false);
    assert.equal(may(token, "/example/other.html"), true);
  }
  assert.equal(may("quxbot", "/example/page.html"), true);
});

test("RFC 9309, 5.2: the longest match wins", () => {
  const text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
  assert.equal(allowed(text, "https://site.example/example/page/disallow.gif", "foobot"), true);
  assert.equal(allowed(text, "https://site.example/example/page/disallowed.gif", "foobot"), false);
});

test("RFC 9309, 2.2.1: groups of one name are one, and Sitemap does not end a group", () => {
  const text = `user-agent: ExampleBot
disallow: /foo
disallow: /bar

user-agent: *
disallow: /everything

sitemap: https://site.example/map.xml
user-agent: Other
sitemap: https://site.example/news.xml
USER-AGENT : examplebot
disallow: /baz`;
  for (const path of ["/foo", "/bar", "/baz"]) assert.equal(allowed(text, path, "ExampleBot"), false, path);
  assert.equal(allowed(text, "/everything", "ExampleBot"), true);
  assert.equal(allowed(text, "/baz", "other"), false);
  assert.equal(allowed(text, "/everything", "nobody"), false);
  assert.deepEqual(sitemaps(parseRobots(text, "x")), ["https://site.example/map.xml", "https://site.example/news.xml"]);
});

test("RFC 9309, 2.2.2: spellings of the same path", () => {
  const same: [rule: string, path: string][] = [
    ["/foo/bar?baz=quz", "/foo/bar?baz=quz"],
    ["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"],
    ["/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"],
    ["/foo/bar/ツ", "/foo/bar/%E3%83%84"],
    ["/foo/bar/%E3%83%84", "/foo/bar/ツ"],
    ["/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"],
    ["/foo/bar/%62%61%7A", "/foo/bar/baz"],
    ["/foo/bar/baz", "/foo/bar/%62%61%7A"],
    ["/a b", "/a%20b"],
    ["/it's?q='x'", "/it's?q='x'"],
    ["/{a}|^", "/{a}|^"],
  ];
  for (const [rule, path] of same) assert.equal(allowed(rules(`Disallow: ${rule}$`), path), false, `${rule} ${path}`);
  assert.equal(allowed(rules("Disallow: /a%2Fb"), "/a/b"), true);
  assert.equal(allowed(rules("Disallow: /a/b"), "/a%2Fb"), true);
  assert.equal(allowed(rules("Disallow: /a%2fb"), "/a%2Fb"), false);
});

test("RFC 9309, 2.2.3: special characters, and how to mean them literally", () => {
  assert.equal(allowed(rules("Disallow: /a # comment"), "/a"), false);
  assert.equal(allowed(rules("Disallow: /path/file-with-a-%2A.html"), "/path/file-with-a-*.html"), false);
  assert.equal(allowed(rules("Disallow: /path/file-with-a-%2A.html"), "/path/file-with-a-x.html"), true);
  assert.equal(allowed(rules("Disallow: /path/foo-%24"), "/path/foo-$"), false);
  assert.equal(allowed(rules("Disallow: /path/foo-%24"), "/path/foo-"), true);
  assert.equal(allowed(rules("Disallow: /a$b"), "/a$b"), false);
});

test("stars and the end sign", () => {
  const cases: [rule: string, path: string, matches: boolean][] = [
    ["/fish", "/fish.html", true],
    ["/fish", "/Fish", false],
    ["/fish", "/catfish", false],
    ["/fish*", "/fishheads/yummy.html", true],
    ["/fish/", "/fish", false],
    ["/*.php", "/folder/any.php.file?x", true],
    ["/*.php", "/windows.PHP", false],
    ["/*.php$", "/filename.php", true],
    ["/*.php$", "/filename.php?parameters", false],
    ["/*.php$", "/a.php/b.php", true],
    ["/fish*.php", "/fishheads/catfish.php?x", true],
    ["/fish*.php", "/Fish.PHP", false],
    ["*", "/", true],
    ["*/b", "/a/b", true],
    ["/$", "/", true],
    ["/$", "/a", false],
    ["/a*a$", "/a", false],
    ["/a**b", "/a-b", true],
    ["/?id=", "/?id=3", true],
    ["fish", "/fish", false],
  ];
  for (const [rule, path, expected] of cases) {
    assert.equal(!allowed(rules(`Disallow: ${rule}`), path), expected, `${rule} ${path}`);
  }
});

test("of two rules as long as each other, the one that allows wins, in any order", () => {
  assert.ok(allowed(rules("Disallow: /page", "Allow: /page"), "/page"));
  assert.ok(allowed(rules("Allow: /page", "Disallow: /page"), "/page"));
  assert.ok(!allowed(rules("Allow: /page", "Disallow: /*.htm"), "/page.htm"));
  assert.ok(allowed(rules("Allow: /$", "Disallow: /"), "/"));
  assert.ok(!allowed(rules("Allow: /$", "Disallow: /"), "/page.htm"));
});

test("robots.txt itself may always be fetched, and what is no address never", () => {
  assert.ok(allowed(rules("Disallow: /"), "https://site.example/robots.txt"));
  assert.ok(!allowed(rules("Disallow: /"), "https://site.example/robots.txt.bak"));
  assert.equal(isAllowed(ALLOW_ALL, "http://[::bad"), false);
});

test("names are compared without case, versions and digits", () => {
  for (const name of ["Orbweaver", "ORBWEAVER/1.0", "orbweaver 2", "orbweaver2000"]) {
    assert.equal(allowed(`User-agent: ${name}\nDisallow: /`, "/", "Orbweaver/0.1 (+https://x)"), false, name);
  }
  assert.ok(allowed("User-agent: orbweaver-images\nDisallow: /", "/"));
  assert.ok(allowed("User-agent: orb\nDisallow: /", "/"));
  assert.ok(allowed("User-agent:\nDisallow: /", "/", ""));
  assert.ok(!allowed("User-agent: * # all\nDisallow: /", "/", ""));
});

test("byte order marks, line ends of all kinds and lines without sense do no harm", () => {
  const lines = [
    "\uFEFFUser-agent: *",
    "garbage",
    ": /",
    "Disallow all of /x",
    "\0\x01",
    "Noindex: /y",
    "disallow : /a",
    "=: :",
  ];
  for (const end of ["\n", "\r", "\r\n", "\n\r"]) {
    assert.equal(allowed(lines.join(end), "/a"), false);
    assert.equal(allowed(lines.join(end), "/x"), true);
  }
  const bytes = new TextEncoder().encode(lines.join("\n"));
  assert.equal(isAllowed(parseRobots(bytes, "x"), "/a"), false);
  // Bytes that are not UTF-8.
  const latin = Buffer.from("User-agent: *\nDisallow: /caf\xe9\nDisallow: /b\n", "latin1");
  assert.equal(isAllowed(parseRobots(latin, "x"), "/b"), false);
});

test("500 KiB are read, and a rule that was cut does not count", () => {
  const filler = "# a comment that fills the file\n".repeat(16_000);
  const early = `User-agent: *\n${filler.slice(0, 500 * 1024 - 40).replace(/\n[^\n]*$/, "\n")}Disallow: /late\n`;
  assert.ok(early.length <= 500 * 1024);
  for (const source of [early, new TextEncoder().encode(early)]) {
    assert.equal(isAllowed(parseRobots(source, "x"), "/late"), false);
  }
  // The cut at 512 KiB would leave `Disallow: /`.
  const head = "User-agent: *\nDisallow: /first\n";
  const cut = `${head}${"#".repeat(512 * 1024 - head.length - "\nDisallow: /".length)}\nDisallow: /private\n`;
  for (const source of [cut, new TextEncoder().encode(cut)]) {
    assert.equal(isAllowed(parseRobots(source, "x"), "/other"), true);
    assert.equal(isAllowed(parseRobots(source, "x"), "/first"), false);
  }
});

test("crawl-delay is of the group, at most 30 seconds, and nonsense is none", () => {
  const delay = (value: string, token = "x") => {
    return crawlDelaySeconds(parseRobots(`User-agent: *\nCrawl-delay: ${value}\n\nUser-agent: own\nAllow: /\n`, token));
  };
  assert.equal(delay("2"), 2);
  assert.equal(delay("0.5"), 0.5);
  assert.equal(delay("86400"), 30);
  for (const value of ["", "-1", "soon", "1e9", "NaN", "1,5"]) assert.equal(delay(value), null, value);
  assert.equal(delay("2", "own"), null);
  const shared = parseRobots("User-agent: a\nUser-agent: b\nDisallow: /x\nCrawl-delay: 3\nCrawl-delay: 1", "b");
  assert.equal(crawlDelaySeconds(shared), 3);
});

test("sitemaps are absolute web addresses, each once", () => {
  const text =
    "Sitemap: https://a.example/s.xml\nSITEMAP:https://a.example/s.xml\nSitemap: /relative\nSitemap: ftp://a/b\n";
  assert.deepEqual(sitemaps(parseRobots(text, "x")), ["https://a.example/s.xml"]);
});

const G = "User-agent: *\n";
const OWN = "User-agent: orbweaver\n";

/** RFC 9309, section by section: what the file says, what is asked for, and whether it may be fetched. */
const RFC_9309: [section: string, file: string, path: string, may: boolean][] = [
  // 2.1 Protocol definition: groups of names and rules.
  ["2.1", "", "/a", true],
  ["2.1", "Disallow: /\n", "/a", true],
  ["2.1", `Disallow: /\n${G}Disallow: /b\n`, "/a", true],
  ["2.1", `${G}Disallow: /\n`, "/a", false],
  ["2.1", `${G}Disallow: /\n`, "/", false],
  ["2.1", `${G}Disallow:\n`, "/a", true],
  ["2.1", `${G}Allow:\nDisallow: /\n`, "/a", false],
  ["2.1", `${OWN}User-agent: other\nDisallow: /a\n`, "/a", false],
  ["2.1", `User-agent: other\n${OWN}Disallow: /a\n`, "/a", false],
  ["2.1", `${OWN}\n\nUser-agent: other\n\nDisallow: /a\n`, "/a", false],
  ["2.1", `User-agent: other\nDisallow: /a\n${OWN}Disallow: /b\n`, "/a", true],
  // 2.2 Formal syntax: white space, comments, line ends, case of keys.
  ["2.2", "user-AGENT: *\ndisALLOW: /a\n", "/a", false],
  ["2.2", "User-agent:*\nDisallow:/a\n", "/a", false],
  ["2.2", "  User-agent \t:\t * \n\tDisallow \t: \t/a\t\n", "/a", false],
  ["2.2", "User-agent: *\r\nDisallow: /a\r\n", "/a", false],
  ["2.2", "User-agent: *\rDisallow: /a\r", "/a", false],
  ["2.2", "User-agent: *\r\nDisallow: /x\rDisallow: /y\n\rDisallow: /a\r\n", "/a", false],
  ["2.2", `${G}Disallow: /a`, "/a", false],
  ["2.2", `# first\n${G}# between\nDisallow: /a # behind\n`, "/a", false],
  ["2.2", `${G}#Disallow: /a\n`, "/a", true],
  ["2.2", `${G}Disallow: /a#b\n`, "/a", false],
  ["2.2", `\uFEFF${G}Disallow: /a\n`, "/a", false],
  // 2.2.1 The User-Agent line: names without case, groups of one name are one, * is for those without a group.
  ["2.2.1", "User-agent: ORBWEAVER\nDisallow: /a\n", "/a", false],
  ["2.2.1", "User-agent: orbweaver/2.1\nDisallow: /a\n", "/a", false],
  ["2.2.1", "User-agent: orbweaver-news\nDisallow: /a\n", "/a", true],
  ["2.2.1", "User-agent: orb\nDisallow: /a\n", "/a", true],
  ["2.2.1", `${G}Disallow: /a\n${OWN}Disallow: /b\n`, "/a", true],
  ["2.2.1", `${OWN}Disallow: /b\n${G}Disallow: /a\n`, "/b", false],
  ["2.2.1", `${OWN}Disallow: /a\n${G}Disallow: /x\n${OWN}Disallow: /b\n`, "/a", false],
  ["2.2.1", `${OWN}Disallow: /a\n${G}Disallow: /x\n${OWN}Disallow: /b\n`, "/b", false],
  ["2.2.1", `${OWN}Disallow: /a\n${OWN}Allow: /a\n`, "/a", true],
  ["2.2.1", `${G}Disallow: /a\n${G}Disallow: /b\n`, "/b", false],
  ["2.2.1", `${OWN}\n${G}Disallow: /a\n`, "/a", false],
  ["2.2.1", "User-agent: other\nDisallow: /\n", "/a", true],
  // 2.2.2 The Allow and Disallow lines: from the first octet, by case, the longest match, allow when equal.
  ["2.2.2", `${G}Disallow: /a\n`, "/abc", false],
  ["2.2.2", `${G}Disallow: /a\n`, "/A", true],
  ["2.2.2", `${G}Disallow: /a/\n`, "/a", true],
  ["2.2.2", `${G}Disallow: /a\n`, "/b/a", true],
  ["2.2.2", `${G}Disallow: /a\nAllow: /a/b\n`, "/a/b/c", true],
  ["2.2.2", `${G}Allow: /a/b\nDisallow: /a\n`, "/a/b/c", true],
  ["2.2.2", `${G}Allow: /a\nDisallow: /a/b\n`, "/a/b/c", false],
  ["2.2.2", `${G}Allow: /a\nDisallow: /a\n`, "/a", true],
  ["2.2.2", `${G}Disallow: /a\nAllow: /a\n`, "/a", true],
  ["2.2.2", `${G}Allow: /a\n`, "/b", true],
  ["2.2.2", `${G}Disallow: /a?x=1\n`, "/a?x=1&y=2", false],
  ["2.2.2", `${G}Disallow: /a?x=1\n`, "/a?y=2&x=1", true],
  ["2.2.2", `${G}Disallow: /%C3%A9\n`, "/é", false],
  ["2.2.2", `${G}Disallow: /é\n`, "/%c3%a9", false],
  ["2.2.2", `${G}Disallow: /%61\n`, "/a", false],
  ["2.2.2", `${G}Disallow: /a%2Fb\n`, "/a/b", true],
  ["2.2.2", `${G}Disallow: /a%2fb\n`, "/a%2Fb", false],
  ["2.2.2", `${G}Disallow: /\n`, "/robots.txt", true],
  // 2.2.3 Special characters.
  ["2.2.3", `${G}Disallow: /*.gif$\n`, "/a/b.gif", false],
  ["2.2.3", `${G}Disallow: /*.gif$\n`, "/a/b.gif?x", true],
  ["2.2.3", `${G}Disallow: /*.gif$\n`, "/a/b.gifs", true],
  ["2.2.3", `${G}Disallow: /a*/c\n`, "/a/b/c/d", false],
  ["2.2.3", `${G}Disallow: /a*\n`, "/a", false],
  ["2.2.3", `${G}Disallow: /a$\n`, "/a", false],
  ["2.2.3", `${G}Disallow: /a$\n`, "/ab", true],
  ["2.2.3", `${G}Disallow: /\nAllow: /$\n`, "/", true],
  ["2.2.3", `${G}Disallow: /\nAllow: /$\n`, "/a", false],
  ["2.2.3", `${G}Disallow: /a%24\n`, "/a$", false],
  ["2.2.3", `${G}Disallow: /a%2A\n`, "/a*", false],
  ["2.2.3", `${G}Disallow: /a%2A\n`, "/ab", true],
  // 2.2.4 Other records do not disturb groups, and unknown ones mean nothing.
  ["2.2.4", `${G}Sitemap: https://a.example/s.xml\nDisallow: /a\n`, "/a", false],
  ["2.2.4", `${OWN}Sitemap: https://a.example/s.xml\nUser-agent: other\nDisallow: /a\n`, "/a", false],
  ["2.2.4", `${G}Noindex: /a\nHost: a.example\n`, "/a", true],
  ["2.2.4", `${G}Forbid: /a\n`, "/a", true],
  ["2.2.4", `${OWN}Unknown: x\nUser-agent: other\nDisallow: /a\n`, "/a", false],
  ["2.2.4", `Sitemap: https://a.example/s.xml\n${G}Disallow: /a\n`, "/a", false],
  ["2.2.4", `${G}Crawl-delay: 5\nDisallow: /a\n`, "/a", false],
];

for (const [section, file, path, may] of RFC_9309) {
  test(`RFC 9309, ${section}: ${JSON.stringify(file)} ${may ? "allows" : "forbids"} ${path}`, () => {
    assert.equal(allowed(file, `https://site.example${path}`, "orbweaver"), may);
  });
}
