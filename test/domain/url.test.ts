import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import {
  canonicalUrl,
  fetchUrl,
  isTrackingParameter,
  keyUrl,
  pageKey,
  shownUrl,
  siteOf,
} from "../../src/domain/text/url.ts";

const CANONICAL: readonly [given: string, canonical: string][] = [
  ["HTTP://EXAMPLE.com", "http://example.com/"],
  ["http://example.com:80/", "http://example.com/"],
  ["https://example.com:443/", "https://example.com/"],
  ["http://example.com:443/", "http://example.com:443/"],
  ["https://bücher.example/", "https://xn--bcher-kva.example/"],
  ["https://example.com/a/./b/../c", "https://example.com/a/c"],
  ["https://example.com/a/%2e%2E/c", "https://example.com/c"],
  ["https://example.com/%41%7e%2d%5f%2E5", "https://example.com/A~-_.5"],
  ["https://example.com/a%2fb%c3%a9", "https://example.com/a%2Fb%C3%A9"],
  ["https://example.com/?b=2&a=1", "https://example.com/?a=1&b=2"],
  ["https://example.com/?a=2&b=0&a=1", "https://example.com/?a=2&a=1&b=0"],
  ["https://example.com/?b&a=&b=", "https://example.com/?a=&b&b="],
  ["https://example.com/?utm_source=x&id=1&fbclid=y", "https://example.com/?id=1"],
  ["https://example.com/?utm_source=x", "https://example.com/"],
  ["https://example.com/?%75tm_medium=x", "https://example.com/"],
  ["https://example.com/#part", "https://example.com/"],
  ["https://example.com/?q=%7E%2b+%20", "https://example.com/?q=~%2B+%20"],
  // a[] and a%5B%5D are one name to a server: the order of its values must stay.
  ["https://example.com/?a[]=2&a%5b%5d=1&a=0", "https://example.com/?a=0&a%5B%5D=2&a%5B%5D=1"],
  ["https://example.com/?x[y]", "https://example.com/?x%5By%5D"],
  ["https://example.com/a[1]|b^c{d}", "https://example.com/a%5B1%5D%7Cb%5Ec%7Bd%7D"],
  ["https://example.com/?a|b^c`d{e}\\f", "https://example.com/?a%7Cb%5Ec%60d%7Be%7D%5Cf"],
  ["https://example.com/?", "https://example.com/"],
  ["https://example.com/a?#b", "https://example.com/a"],
  ["https://example.com/?&", "https://example.com/"],
  ["https://example.com/?a=1&", "https://example.com/?a=1"],
  ["https://example.com/?&a=1&&b=2&&", "https://example.com/?a=1&b=2"],
  ["https://example.com/?a=1&utm_source=x&", "https://example.com/?a=1"],
  ["https://example.com./", "https://example.com/"],
  ["https://EXAMPLE.com.:8443/a", "https://example.com:8443/a"],
  ["https://user:pw.@example.com./a.?b.", "https://user:pw.@example.com/a.?b."],
  ["http://[::1]/[a]", "http://[::1]/%5Ba%5D"],
];

for (const [given, canonical] of CANONICAL) {
  test(`${given} is the page ${canonical}`, () => assert.equal(canonicalUrl(given), canonical));
}

const DIFFERENT: readonly [string, string][] = [
  ["https://example.com/a", "https://example.com/a/"],
  ["https://example.com/a", "https://example.com/A"],
  ["https://example.com/a/b", "https://example.com/a%2Fb"],
  ["https://example.com/a", "http://example.com/a"],
  ["https://example.com/?=", "https://example.com/?"],
  ["https://example.com/?a", "https://example.com/?a="],
  ["https://example.com/?a=1&a=2", "https://example.com/?a=2&a=1"],
  ["https://example.com/?a=b%26c", "https://example.com/?a=b&c"],
  ["https://example.com/?a=+", "https://example.com/?a=%2B"],
  ["https://example.com/%%32e", "https://example.com/%2e"],
  ["https://example.com/%25%34%31", "https://example.com/A"],
  ["https://example.com/x%a%41", "https://example.com/x%aA"],
  ["https://example.com/", "https://example.com../"],
  ["https://example.com/a|b", "https://example.com/a%257Cb"],
  ["https://example.com/a", "https://example.com/a."],
  ["https://example.com/", "https://user@example.com/"],
];

for (const [one, other] of DIFFERENT) {
  test(`${one} and ${other} stay two pages`, () => assert.notEqual(canonicalUrl(one), canonicalUrl(other)));
}

/** Text full of what URLs are made of, so that the odd cases are hit often. */
const piece = fc.string({
  unit: fc.constantFrom(
    ..."abAB019%25eEfF/.~-_&=+?#[]|^;:@ é".split(""),
    "%2e",
    "%2F",
    "%41",
    "%%",
    "utm_a",
    "..",
    "%c3%a9",
  ),
  maxLength: 30,
});
const address = fc
  .tuple(fc.constantFrom("http", "https", "HTTPS"), fc.domain(), fc.constantFrom("", ":80", ":443", ":8080"), piece)
  .map(([scheme, domain, port, rest]) => `${scheme}://${domain}${port}/${rest}`);

test("the canonical form of a canonical form is itself", () => {
  fc.assert(
    fc.property(address, (url) => {
      const once = canonicalUrl(url);
      assert.equal(canonicalUrl(once), once);
    }),
    { numRuns: 5000 },
  );
});

test("nothing makes it throw", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.webUrl({ withFragments: true, withQueryParameters: true }), address),
      (text) => {
        assert.equal(typeof canonicalUrl(text), "string");
        assert.equal(typeof siteOf(text), "string");
        assert.equal(typeof pageKey({ url: text }), "string");
        fetchUrl(text);
      },
    ),
    { numRuns: 2000 },
  );
});

/** What a server sees of a path: bytes per segment. Two paths are one resource only when these are equal. */
function segmentsOf(url: string): string {
  const path = new URL(url).pathname;
  return JSON.stringify(
    path
      .split("/")
      // These may not stand in an address as they are: it is their escape that is sent.
      .map((segment) => segment.replace(/[[\]|^]/g, encodeURIComponent))
      .map((segment) => segment.replace(/%[0-9a-f]{2}/gi, (hex) => hex.toUpperCase())),
  );
}

test("different paths are never merged", () => {
  fc.assert(
    fc.property(piece, piece, (one, other) => {
      const [a, b] = [`https://example.com/${one}`, `https://example.com/${other}`].map((url) =>
        url.replace(/[?#].*/, ""),
      );
      if (a === undefined || b === undefined || canonicalUrl(a) !== canonicalUrl(b)) return;
      // Equal keys: the paths must be the same bytes once each well-formed escape is decoded on its own.
      const decode = (url: string) =>
        segmentsOf(url).replace(/%([0-9A-F]{2})/g, (_, hex: string) => `<${Number.parseInt(hex, 16)}>`);
      const plain = (text: string) =>
        text.replace(/<(\d+)>/g, (all, code: string) => {
          const char = String.fromCharCode(Number(code));
          return /[A-Za-z0-9\-._~]/.test(char) ? char : all;
        });
      assert.equal(plain(decode(a)), plain(decode(b)));
    }),
    { numRuns: 5000 },
  );
});

test("reordering differently named parameters is the same page, reordering values of one name is not", () => {
  const name = fc.constantFrom("a", "b", "id", "q[]");
  const pairs = fc.uniqueArray(fc.tuple(name, fc.nat(9)), { minLength: 2, maxLength: 6, selector: String });
  fc.assert(
    fc.property(pairs, fc.nat(), (given, seed) => {
      const url = (list: (readonly [string, number])[]) =>
        `https://example.com/?${list.map(([key, value]) => `${key}=${value}`).join("&")}`;
      const at = seed % (given.length - 1);
      const swapped = [...given];
      [swapped[at], swapped[at + 1]] = [given[at + 1]!, given[at]!];
      assert.equal(canonicalUrl(url(given)) === canonicalUrl(url(swapped)), given[at]![0] !== given[at + 1]![0]);
    }),
  );
});

test("the address to fetch is untouched but for the fragment", () => {
  assert.equal(
    fetchUrl("https://example.com/%7ea?b=2&a=1&utm_source=x#f"),
    "https://example.com/%7ea?b=2&a=1&utm_source=x",
  );
  assert.equal(fetchUrl("../b?c#d", "https://example.com/x/y"), "https://example.com/b?c");
  assert.equal(fetchUrl("not a url"), null);
  assert.equal(fetchUrl("mailto:a@example.com"), "mailto:a@example.com");
});

test("a site is a host, with its port unless that is 80 or 443", () => {
  assert.equal(siteOf("https://Example.com/a"), "example.com");
  assert.equal(siteOf("http://example.com:443/"), "example.com");
  assert.equal(siteOf("https://example.com:80/"), "example.com");
  assert.equal(siteOf("http://example.com:8080/"), "example.com:8080");
  assert.equal(siteOf("http://[::1]:3000/"), "[::1]:3000");
  assert.equal(siteOf("https://example.com./"), "example.com");
  assert.equal(siteOf("https://example.com.:8080/"), "example.com:8080");
  assert.equal(siteOf(new URL("http://[2001:DB8::1]/")), "[2001:db8::1]");
});

test("a key tells method, body and session apart", () => {
  const url = "https://example.com/#x";
  assert.equal(pageKey({ url }), "1:GET:https://example.com/");
  const keys = [
    pageKey({ url }),
    pageKey({ url, method: "post" }),
    pageKey({ url, method: "POST", bodyHash: "aa" }),
    pageKey({ url, method: "POST", bodyHash: "aa auth:bb" }),
    pageKey({ url, method: "POST", bodyHash: "aa", authContext: "bb" }),
    pageKey({ url, authContext: "bb" }),
  ];
  assert.equal(new Set(keys).size, keys.length);
});

test("tracking parameters are known by name and by family, in their exact spelling", () => {
  for (const name of ["utm_source", "utm_anything", "gclid", "_ga", "oly_enc_id"])
    assert.ok(isTrackingParameter(name), name);
  for (const name of ["utm", "id", "GCLID", "ref", "page", "_gat"]) assert.ok(!isTrackingParameter(name), name);
});

test("a password in a URL is never shown", () => {
  assert.equal(shownUrl("https://user:secret@example.com/a?b=1"), "https://***@example.com/a?b=1");
  assert.equal(shownUrl("https://user@example.com/"), "https://***@example.com/");
  assert.equal(shownUrl("https://example.com/@user"), "https://example.com/@user");
  assert.equal(shownUrl("not a url @"), "not a url @");
});

test("keys that were stored before spellings were joined still match, but for those spellings", () => {
  assert.equal(pageKey({ url: "https://shop.example/a?b=1&c=%C3%A9" }), "1:GET:https://shop.example/a?b=1&c=%C3%A9");
  assert.equal(keyUrl("1:GET:https://shop.example./a?x[y]=1&")?.href, "https://shop.example./a?x[y]=1&");
});

test("the address of a plain page can be read from its key", () => {
  for (const url of ["https://shop.example/a?b=1&a=%C3%A9", "http://[::1]:8080/", "https://shop.example/%20"])
    assert.equal(keyUrl(pageKey({ url }))?.href, new URL(canonicalUrl(url)).href);
  assert.equal(keyUrl(pageKey({ url: "https://a.example/", method: "POST" })), null);
  assert.equal(keyUrl(pageKey({ url: "https://a.example/", authContext: "x" })), null);
  assert.equal(keyUrl("something else"), null);
});
