import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { isAllowed, parseRobots } from "../../src/domain/site/robots.ts";

const allowed = (text: string, path: string, token = "orbweaver") => isAllowed(parseRobots(text, token), path);
const rules = (...lines: string[]) => ["User-agent: *", ...lines].join("\n");

/** The meaning of a pattern, written as a regular expression. */
function bySpec(pattern: string, path: string): boolean {
  const end = pattern.endsWith("$");
  const body = (end ? pattern.slice(0, -1) : pattern).split("*").map((piece) => piece.replace(/[.?$]/g, "\\$&"));
  return new RegExp(`^${body.join(".*")}${end ? "$" : ""}`, "s").test(path);
}

test("matching is what the stars and the end sign mean", () => {
  const pattern = fc
    .array(fc.constantFrom("a", "b", "/", "*", "."), { maxLength: 8 })
    .map((parts) => `/${parts.join("")}`);
  const path = fc.array(fc.constantFrom("a", "b", "/", "ab"), { maxLength: 12 }).map((parts) => `/x${parts.join("")}`);
  fc.assert(
    fc.property(pattern, fc.boolean(), path, (text, end, where) => {
      // Dots in a pattern are only dots; the path has none, as an address would resolve them.
      const rule = `/x${text.slice(1)}${end ? "$" : ""}`;
      assert.equal(!allowed(rules(`Disallow: ${rule}`), where), bySpec(rule, where));
    }),
    { numRuns: 1_000 },
  );
});

test("long pieces between stars are found as short ones are", () => {
  const piece = fc
    .array(fc.constantFrom("ab", "aab", "b"), { minLength: 6, maxLength: 16 })
    .map((parts) => parts.join(""));
  const path = fc.array(fc.constantFrom("ab", "aab", "b"), { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(piece, path, path, fc.boolean(), (text, before, after, inside) => {
      const where = `/x${before}${inside ? text : ""}${after}`;
      assert.equal(!allowed(rules(`Disallow: /x*${text}`), where), where.slice(2).includes(text));
    }),
  );
});

/** Groups of names and rules, as somebody might write them. */
const fileLines = fc.array(
  fc.oneof(
    fc.constantFrom("*", "orbweaver", "other", "ORBWEAVER/2").map((name) => `User-agent: ${name}`),
    fc
      .tuple(fc.constantFrom("Allow", "Disallow"), fc.constantFrom("/", "/a", "/a/b", "/*b", "/a$", "/a/*/c", ""))
      .map(([key, path]) => `${key}: ${path}`),
  ),
  { maxLength: 15 },
);
const somePath = fc.constantFrom("/", "/a", "/a/b", "/a/b/c", "/b", "/c");

test("line ends, case of keys, comments, blank and unknown lines change nothing", () => {
  const noise = fc.constantFrom(
    "",
    "# a comment",
    "Noindex: /a",
    "Host: a.example",
    "garbage",
    "Sitemap: https://a.example/s",
  );
  const end = fc.constantFrom("\n", "\r\n", "\r");
  fc.assert(
    fc.property(fileLines, fc.array(fc.tuple(noise, end, fc.boolean())), somePath, (lines, noises, path) => {
      const written = lines.map((line, index) => {
        const [extra, lineEnd, shout] = noises[index] ?? ["", "\n", false];
        const [key = "", value = ""] = line.split(": ");
        return `${extra}${lineEnd}${shout ? key.toUpperCase() : key} :  ${value}  # so${lineEnd}`;
      });
      assert.equal(allowed(`\uFEFF${written.join("")}`, path), allowed(lines.join("\n"), path));
    }),
  );
});

test("the order of groups and of the rules within them changes nothing", () => {
  const group = fc.tuple(
    fc.constantFrom("*", "orbweaver", "other"),
    fc.array(fc.tuple(fc.constantFrom("Allow", "Disallow"), fc.constantFrom("/", "/a", "/a/b", "/*b", "/a$")), {
      minLength: 1,
    }),
  );
  const textOf = (groups: [string, [string, string][]][]) =>
    groups.map(([name, own]) => `User-agent: ${name}\n${own.map((rule) => rule.join(": ")).join("\n")}\n`).join("\n");
  fc.assert(
    fc.property(fc.array(group), somePath, (groups, path) => {
      const turned = groups.toReversed().map(([name, own]): [string, [string, string][]] => [name, own.toReversed()]);
      assert.equal(allowed(textOf(turned), path), allowed(textOf(groups), path));
    }),
  );
});

test("no file and no address makes it throw", () => {
  const line = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .tuple(
        fc.constantFrom("User-agent", "Allow", "Disallow", "Crawl-delay", "Sitemap"),
        fc.string({ unit: "binary" }),
      )
      .map(([key, value]) => `${key}: ${value}`),
    fc.constantFrom("User-agent: *", "Disallow: /%", "Disallow: /%zz*$", "Allow: *$*"),
  );
  const text = fc.array(line).map((lines) => lines.join("\n"));
  const address = fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string({ unit: "binary" }));
  fc.assert(fc.property(text, address, (file, url) => void allowed(file, url)));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (file) => void parseRobots(file, "x")));
});

test("patterns made to be slow come to an end", () => {
  const path = `/${"a".repeat(8_000)}`;
  const patterns = [
    "*a".repeat(4_000),
    `${"*a".repeat(4_000)}b`,
    `/${"a*".repeat(4_000)}b$`,
    `*${"a".repeat(7_000)}b`,
    `*${"a".repeat(300)}b${"a".repeat(300)}`,
  ];
  for (const pattern of patterns) allowed(rules(...Array.from({ length: 40 }, () => `Disallow: ${pattern}`)), path);
  allowed(rules(...Array.from({ length: 30_000 }, () => "Disallow: *b")), path);
});
