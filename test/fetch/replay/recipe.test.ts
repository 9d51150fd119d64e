import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextLink, PAGINATION_KINDS } from "../../../src/fetch/replay/pagination.ts";
import { parseReplay } from "../../../src/fetch/replay/recipe.ts";
import { read, tableBelow } from "../../support/source.ts";

const request = { url: "https://api.example.com/items?page=1" };

function mistakes(value: unknown): string[] {
  const { errors = [] } = parseReplay(value, "replay");
  return errors.map(({ path, message }) => `${path}: ${message}`);
}

describe("a recipe for api_replay", () => {
  it("needs no more than the address", () => {
    const { ok } = parseReplay({ request: { url: "HTTPS://api.example.com:443/a b#top" } }, "replay");
    assert.deepEqual(ok, {
      request: { method: "GET", url: "https://api.example.com/a%20b", headers: {}, body: null },
      items: null,
      pagination: null,
    });
  });

  it("takes everything at once", () => {
    const { ok } = parseReplay(
      {
        request: { method: "POST", url: request.url, headers: { "X-Shop": " de " }, body: { page: 1 } },
        items: "$.data[*]",
        pagination: { kind: "page", pointer: "/page", start: 0, step: 2, max_pages: 1000 },
      },
      "replay",
    );
    assert.deepEqual(ok?.request.headers, { "x-shop": "de", "content-type": "application/json" });
    assert.deepEqual([ok?.items?.text, ok?.pagination?.kind, ok?.pagination?.maxPages], ["$.data[*]", "page", 1000]);
  });

  it("takes headers whose names every object has", () => {
    const headers = JSON.parse('{"Constructor": "a", "toString": "b", "__proto__": "c"}') as Record<string, string>;
    const { ok, errors } = parseReplay({ request: { ...request, headers } }, "replay");
    assert.deepEqual(errors, undefined);
    assert.deepEqual(Object.entries(ok!.request.headers), [
      ["constructor", "a"],
      ["tostring", "b"],
      ["__proto__", "c"],
    ]);
  });

  it("ends after 10 pages unless told otherwise", () => {
    const { ok } = parseReplay({ request, pagination: { kind: "link" } }, "replay");
    assert.equal(ok?.pagination?.maxPages, 10);
  });

  const WRONG: [name: string, value: unknown, expected: RegExp[]][] = [
    ["nothing", undefined, [/^replay: is required/]],
    ["a text", "https://api.example.com", [/^replay: expected an object/]],
    ["no request", {}, [/^replay\.request: is required/]],
    ["no address", { request: {} }, [/^replay\.request\.url: is required/]],
    ["another scheme", { request: { url: "ftp://x.example/" } }, [/^replay\.request\.url: expected an absolute http/]],
    ["half an address", { request: { url: "/items" } }, [/^replay\.request\.url: expected an absolute http/]],
    ["keys nobody knows", { request, itmes: "$" }, [/^replay\.itmes: unknown key, did you mean "items"\?/]],
    [
      "another method",
      { request: { ...request, method: "DELETE" } },
      [/^replay\.request\.method: expected one of GET/],
    ],
    ["a GET with a body", { request: { ...request, body: "x" } }, [/^replay\.request\.body: a GET has no body/]],
    ["a number as body", { request: { ...request, method: "POST", body: 3 } }, [/^replay\.request\.body: expected/]],
    [
      "headers in a list",
      { request: { ...request, headers: ["a"] } },
      [/^replay\.request\.headers: expected an object/],
    ],
    [
      "headers that cannot be sent",
      { request: { ...request, headers: { "a b": "x", ok: 1, evil: "a\r\nb: c", host: "x", "x-ü": "x", Y: "日" } } },
      [
        /headers\.a b: is not a header name/,
        /headers\.ok: expected a string/,
        /evil: contains char/,
        /host: is set/,
        /x-ü: is not a header name/,
        /Y: contains char/,
      ],
    ],
    ["a header twice", { request: { ...request, headers: { a: "1", A: "2" } } }, [/headers\.A: appears twice/]],
    ["a path that is none", { request, items: "data[*]" }, [/^replay\.items: /]],
    ["a path with a filter", { request, items: "$.data[?@.a]" }, [/^replay\.items: must not contain a filter/]],
    ["a path through everything", { request, items: "$..data" }, [/^replay\.items: must not contain "\.\."/]],
    ["a path that multiplies", { request, items: "$[*,*]" }, [/^replay\.items: must select one name/]],
    [
      "no kind of pagination",
      { request, pagination: {} },
      [/^replay\.pagination\.kind: is required: one of page, offset/],
    ],
    [
      "a kind nobody knows",
      { request, pagination: { kind: "pages" } },
      [/kind: expected one of .*did you mean "page"\?/],
    ],
    ["nowhere to put the number", { request, pagination: { kind: "page" } }, [/pagination\.param: set either/]],
    [
      "two places for the number",
      { request, pagination: { kind: "page", param: "p", pointer: "/p" } },
      [/pagination\.param: set either/],
    ],
    [
      "a step of nothing",
      { request, pagination: { kind: "page", param: "p", step: 0 } },
      [/pagination\.step: must not be 0/],
    ],
    [
      "too many pages",
      { request, pagination: { kind: "page", param: "p", max_pages: 1001 } },
      [/max_pages: .* 1 to 1000/],
    ],
    ["no limit", { request, pagination: { kind: "offset", param: "o" } }, [/pagination\.limit: is required/]],
    ["no cursor", { request, pagination: { kind: "cursor", param: "c" } }, [/pagination\.next: is required/]],
    ["another kind's key", { request, pagination: { kind: "link", param: "c" } }, [/pagination\.param: unknown key/]],
    [
      "a place in a body that is not there",
      { request: { ...request, method: "POST", body: { a: {} } }, pagination: { kind: "page", pointer: "/b/page" } },
      [/pagination\.pointer: the request body is not JSON, or has no such position/],
    ],
    [
      "a form that is none",
      { request, pagination: { kind: "page", param: "p", in: "form" } },
      [/pagination\.in: the request has no text body/],
    ],
  ];
  for (const [name, value, expected] of WRONG) {
    it(`is refused with ${name}`, () => {
      const found = mistakes(value);
      assert.equal(found.length, expected.length, found.join("\n"));
      for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? "", pattern);
    });
  }

  it("is refused with a body that is too large or too deep", () => {
    const post = (body: unknown) => ({ request: { ...request, method: "POST", body } });
    assert.match(mistakes(post("x".repeat(1024 * 1024 + 1)))[0] ?? "", /body: is longer/);
    assert.match(mistakes(post({ x: "x".repeat(1024 * 1024) }))[0] ?? "", /body: is longer/);
    assert.match(mistakes(post(JSON.parse("[".repeat(60) + "]".repeat(60))))[0] ?? "", /body: is nested/);
  });
});

describe("a link to the next page", () => {
  const LINKS: [first: string, link: string, next: string | RegExp][] = [
    ["https://a.example/x?p=1", "?p=2", "https://a.example/x?p=2"],
    ["https://a.example/x", "https://me:pw@a.example/y#z", "https://a.example/y"],
    ["https://a.example/x", "http://a.example/y", "https://a.example/y"],
    ["https://a.example:8443/x", "http://a.example/y", "https://a.example:8443/y"],
    ["http://a.example/x", "https://a.example/y", "https://a.example/y"],
    ["http://a.example:8080/x", "https://a.example/y", /another site/],
    ["https://a.example/x", "https://b.example/y", /another site \(b\.example\)/],
    ["https://a.example/x", "//a.example.evil.example/y", /another site/],
    ["https://a.example/x", "javascript:alert(1)", /another site/],
    ["https://a.example/x", "http://[", /not a URL/],
  ];
  for (const [first, link, next] of LINKS) {
    it(`${link} on ${first}: ${next}`, () => {
      const { ok } = parseReplay({ request: { url: first }, pagination: { kind: "link", next: "$.next" } }, "replay");
      assert.ok(ok !== undefined);
      const turn = { count: 1, request: ok.request, json: { next: link }, headers: {}, url: first };
      const go = () => ok.pagination?.steps.next(turn)?.url;
      if (typeof next === "string") assert.equal(go(), next);
      else assert.throws(go, next);
    });
  }
});

describe("a Link header", () => {
  const HEADERS: [header: string, next: string | undefined][] = [
    ["", undefined],
    ['<https://a.example/?page=2>; rel="next"', "https://a.example/?page=2"],
    ['<https://a.example/?page=1>; rel="prev", <https://a.example/?page=3>; rel="next"', "https://a.example/?page=3"],
    ["</x>; title=y; rel=next", "/x"],
    ['</x,y>; rel="last next"', "/x,y"],
    ['</x>; rel="nextish"', undefined],
    ["<".repeat(60_000), undefined],
  ];
  for (const [header, next] of HEADERS) {
    it(`${header.slice(0, 60) || "that is empty"} names ${next ?? "no next page"}`, () => {
      assert.equal(nextLink(header), next);
    });
  }
});

it("docs/api-replay.md names every kind of pagination with all its keys, and its example is a good one", () => {
  const page = read("docs/api-replay.md");
  const told = tableBelow(page, "## Pagination").map(([kind = "", , keys = ""]) => [
    kind.replaceAll("`", ""),
    keys.replaceAll("`", "").split(", "),
  ]);
  const real = Object.entries(PAGINATION_KINDS).map(([kind, { keys }]) => [kind, [...keys]]);
  assert.deepEqual(told, real);
  const example = JSON.parse(/```json\n([^]*?)```/.exec(page)?.[1] ?? "") as { replay: unknown };
  assert.deepEqual(mistakes(example.replay), []);
});
