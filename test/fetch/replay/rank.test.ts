import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonValue } from "../../../src/domain/lane/queue-item.ts";
import type { Exchange } from "../../../src/fetch/replay/exchange.ts";
import { writeJob } from "../../../src/fetch/replay/job.ts";
import { rankExchanges, rankUnseen } from "../../../src/fetch/replay/rank.ts";
import { parseReplay } from "../../../src/fetch/replay/recipe.ts";
import { best, type Made, made, NAMES, PRODUCTS, VISIBLE } from "./exchanges.ts";

describe("of all that a page asked for", () => {
  it("the list that it shows comes first; settings, translations and measuring sink", () => {
    const exchanges = [
      made({ flags: NAMES, currency: "EUR" }, { url: "https://shop.example/api/feature-flags" }),
      made(
        { home: "Home", basket: "Basket", imprint: "Imprint", names: NAMES.join(" ") },
        { url: "https://shop.example/i18n/en.json" },
      ),
      made({ events: PRODUCTS }, { url: "https://www.google-analytics.com/g/data", method: "POST" }),
      made({ user: null }, { url: "https://shop.example/api/me" }),
      made({ data: PRODUCTS }, { url: "https://shop.example/api/products" }),
      made(PRODUCTS.slice(0, 2) as JsonValue, { url: "https://shop.example/api/recent" }),
    ];
    const ranked = rankExchanges(exchanges, VISIBLE);
    assert.deepEqual(
      ranked.slice(0, 2).map(({ exchange }) => exchange.request.url),
      ["https://shop.example/api/products", "https://shop.example/api/recent"],
    );
    assert.ok((ranked[0]?.coverage ?? 0) > 0.6 && (ranked[0]?.score ?? 0) <= 1);
  });

  it("only good answers of JSON by GET or POST count, whatever they are called", () => {
    const exchanges = [
      made(JSON.stringify(PRODUCTS), { type: "text/plain" }),
      made(PRODUCTS as JsonValue, { type: "text/html" }),
      made(PRODUCTS as JsonValue, { status: 404 }),
      made(PRODUCTS as JsonValue, { method: "PUT" }),
      made("no JSON at all"),
      made('"Walnut table"'),
    ];
    assert.deepEqual(
      rankExchanges(exchanges, VISIBLE).map(({ exchange }) => exchange.response.contentType),
      ["text/plain"],
    );
  });

  it("pages without spaces between words are measured too", () => {
    const list = [{ name: "京都の古い茶碗" }, { name: "手作りの木の椅子" }];
    const ranked = rankExchanges(
      [made({ a: "何も関係ない" }), made({ list })],
      "商品一覧 京都の古い茶碗です 手作りの木の椅子",
    );
    assert.equal(ranked[0]?.items?.path, "$.list[*]");
    assert.ok((ranked[0]?.coverage ?? 0) > 0.5);
  });

  it("nothing is nothing", () => {
    assert.deepEqual(rankExchanges([], VISIBLE), []);
    assert.equal(rankExchanges([made({ list: PRODUCTS })], "")[0]?.score, 0);
  });
});

describe("the items of an answer", () => {
  const CASES: [name: string, json: JsonValue, path: string | undefined][] = [
    ["the answer itself", PRODUCTS as JsonValue, "$[*]"],
    ["under a name", { data: { products: PRODUCTS } }, "$.data.products[*]"],
    ["under a name with signs", { "my list": { "it's": PRODUCTS } }, "$['my list']['it\\'s'][*]"],
    ["among other lists", { menu: [{ t: "Home" }, { t: "Basket" }], rows: PRODUCTS }, "$.rows[*]"],
    ["in a list of one", [{ hits: PRODUCTS }], "$[*].hits[*]"],
    [
      "in several groups",
      { groups: [{ rows: PRODUCTS.slice(0, 2) }, { rows: PRODUCTS.slice(2) }] },
      "$.groups[*].rows[*]",
    ],
    [
      "with lists of their own",
      { rows: PRODUCTS.map((product) => ({ ...product, images: [{ url: "a" }, { url: "b" }] })) },
      "$.rows[*]",
    ],
    [
      "behind edges",
      { data: { list: { edges: PRODUCTS.map((node) => ({ node, cursor: "x" })) } } },
      "$.data.list.edges[*].node",
    ],
    ["nowhere", { title: "Walnut table" }, undefined],
  ];
  for (const [name, json, path] of CASES) {
    it(`${name}: ${path ?? "none"}`, () => {
      const ranked = best(json);
      assert.equal(ranked.items?.path, path);
      if (path === undefined) return;
      const { ok } = parseReplay({ request: { url: "https://shop.example/" }, items: path }, "replay");
      const found = ok?.items?.all(json) as { name: string }[];
      assert.deepEqual(
        found.map((item) => item.name),
        NAMES,
      );
    });
  }
});

describe("the way to the next page", () => {
  const rows = PRODUCTS as JsonValue;
  const url = (query: string) => ({ url: `https://shop.example/api/products?${query}` });
  const json = (body: JsonValue) => ({ method: "POST", body: JSON.stringify(body) });
  const CASES: [name: string, answer: JsonValue, asked: Made, expected: object | null][] = [
    ["a number in the query", { rows }, url("page=1&size=20"), { kind: "page", param: "page", start: 1, step: 1 }],
    ["a number from 0", { rows }, url("pageIndex=0"), { kind: "page", param: "pageIndex", start: 0, step: 1 }],
    ["a recording of page 7", { rows }, url("p=7"), { kind: "page", param: "p", start: 1, step: 1 }],
    [
      "an offset and a limit",
      { rows },
      url("offset=40&limit=20"),
      { kind: "offset", param: "offset", start: 0, limit: 20 },
    ],
    ["an offset alone", { rows }, url("skip=0"), { kind: "offset", param: "skip", start: 0, limit: 5 }],
    [
      "a number in a JSON body",
      { rows },
      json({ query: "x", variables: { page: 2 } }),
      { kind: "page", pointer: "/variables/page", start: 1, step: 1 },
    ],
    [
      "a number in a form",
      { rows },
      { method: "POST", body: "action=more&paged=1" },
      { kind: "page", param: "paged", in: "form", start: 1, step: 1 },
    ],
    [
      "a cursor that was asked with",
      { rows, paging: { next: "abc" } },
      url("cursor=xyz"),
      { kind: "cursor", param: "cursor", next: "$.paging.next" },
    ],
    [
      "a cursor of the first page",
      { rows, nextPageToken: "abc" },
      {},
      { kind: "cursor", param: "pageToken", next: "$.nextPageToken" },
    ],
    [
      "a cursor with a plain name",
      { rows, next_cursor: "abc" },
      {},
      { kind: "cursor", param: "cursor", next: "$.next_cursor" },
    ],
    [
      "a cursor of GraphQL",
      { data: { list: { rows, pageInfo: { endCursor: "abc" } } } },
      json({ variables: { after: "xyz" } }),
      { kind: "cursor", pointer: "/variables/after", next: "$.data.list.pageInfo.endCursor" },
    ],
    [
      "a link in the answer",
      { rows, next: "https://shop.example/?page=2" },
      url("page=1"),
      { kind: "link", next: "$.next" },
    ],
    [
      "a link deeper down",
      { rows, _links: { next: { href: "/p?c=2" } } },
      {},
      { kind: "link", next: "$._links.next.href" },
    ],
    ["OData's link", { rows, "@odata.nextLink": "/p?c=2" }, {}, { kind: "link", next: "$['@odata.nextLink']" }],
    ["a Link header", { rows }, { answerHeaders: { link: '</p2>; rel="next"' } }, { kind: "link" }],
    ["none to be seen", { rows, next: null, cursor: 5 }, url("q=1&color=red"), null],
  ];
  for (const [name, answer, asked, expected] of CASES) {
    it(`${name}: ${JSON.stringify(expected)}`, () => {
      const ranked = best(answer, asked);
      assert.deepEqual(ranked.pagination, expected);
      const { errors } = parseReplay(writeJob(ranked).job.replay, "replay");
      assert.equal(errors, undefined, JSON.stringify(errors));
    });
  }
});

describe("the pages of one list", () => {
  const ORIGIN = "https://shop.example";
  const rows = (at: number) => PRODUCTS.slice((at - 1) * 2, at * 2);
  const written = (exchanges: readonly Exchange[]) => {
    const ranked = rankExchanges(exchanges, VISIBLE);
    assert.equal(ranked.length, 1, "they are one call");
    const [one] = ranked;
    assert.ok(one !== undefined);
    const unseen = rankUnseen(exchanges);
    assert.deepEqual([unseen.length, unseen[0]?.exchange.request.url], [1, one.exchange.request.url]);
    const { job } = writeJob(one);
    assert.equal(parseReplay(job.replay, "replay").errors, undefined);
    return { ...one, job };
  };
  const asked = (query: string, answer: JsonValue, more: Made = {}) =>
    made(answer, { url: `${ORIGIN}/api/products${query}`, ...more });

  it("that lead to each other begin with the one that none leads to, and are measured together", () => {
    const linked = (at: number) =>
      asked(`?page=${at}`, { rows: rows(at), next: at < 3 ? `/api/products?page=${at + 1}` : null });
    const one = written([linked(3), linked(1), linked(2)]);
    assert.equal(one.job.replay.request["url"], `${ORIGIN}/api/products?page=1`);
    assert.deepEqual([one.pages, one.items?.count, one.pagination?.kind], [3, 5, "link"]);
    assert.ok(one.coverage > (rankExchanges([linked(3)], VISIBLE)[0]?.coverage ?? 1));
  });

  it("may be linked by addresses that have nothing in common", () => {
    const one = written([
      made({ rows: rows(2), next: `http://shop.example/c/ef` }, { url: `${ORIGIN}/b/cd` }),
      made({ rows: rows(1), next: "/b/cd" }, { url: `${ORIGIN}/a` }),
      made({ rows: rows(3), next: null }, { url: `${ORIGIN}/c/ef` }),
    ]);
    assert.equal(one.job.replay.request["url"], `${ORIGIN}/a`);
  });

  const CASES: [name: string, exchanges: Exchange[], url: string, pagination: object][] = [
    [
      "by number",
      [asked("?page=3", rows(3)), asked("?page=2", rows(2))],
      "?page=2",
      { kind: "page", param: "page", start: 1, step: 1 },
    ],
    [
      "by number, the first without one",
      [asked("?page=2", rows(2)), asked("", rows(1))],
      "",
      { kind: "page", param: "page", start: 1, step: 1 },
    ],
    [
      "by number, the first without one being page 0",
      [asked("?page=1", rows(2)), asked("", rows(1))],
      "",
      { kind: "page", param: "page", start: 0, step: 1 },
    ],
    [
      "by offset, the last page being short",
      [asked("?offset=4", rows(3)), asked("?offset=2", rows(2)), asked("", rows(1))],
      "",
      { kind: "offset", param: "offset", start: 0, limit: 2 },
    ],
    [
      "by cursor",
      [asked("?cursor=b", { rows: rows(2), next_cursor: "c" }), asked("", { rows: rows(1), next_cursor: "b" })],
      "",
      { kind: "cursor", param: "cursor", next: "$.next_cursor" },
    ],
    [
      "by a cursor in the body",
      ["b", null].map((after, index) =>
        asked(
          "",
          { rows: rows(2 - index), endCursor: `c${index}` },
          { method: "POST", body: JSON.stringify({ after }) },
        ),
      ),
      "",
      { kind: "cursor", pointer: "/after", next: "$.endCursor" },
    ],
  ];
  for (const [name, exchanges, query, pagination] of CASES) {
    it(`${name}: ${JSON.stringify(pagination)}`, () => {
      const one = written(exchanges);
      assert.equal(one.job.replay.request["url"], `${ORIGIN}/api/products${query}`);
      assert.deepEqual(one.pagination, pagination);
      assert.equal(one.pages, exchanges.length);
    });
  }

  it("of which only a later one was seen are asked for from the first on", () => {
    const answer = { rows: rows(2), next: "/api/products?after=2024&page=4" };
    const { job } = written([asked("?after=2024&page=3", answer)]);
    assert.equal(job.replay.request["url"], `${ORIGIN}/api/products?after=2024&page=1`);
  });

  it("are not those of another list", () => {
    const exchanges = ["?color=red&page=1", "?color=blue&page=2"].map((query, at) => asked(query, rows(at + 1)));
    assert.equal(rankExchanges(exchanges, VISIBLE).length, 2);
  });
});
