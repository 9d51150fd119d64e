import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import { noCredentials } from "../../../src/domain/text/credentials.ts";
import { createReplayStrategy, type ReplayDeps } from "../../../src/fetch/replay/strategy.ts";
import type { PageAnswer, PageRequest } from "../../../src/fetch/page.ts";
import { failureOf, reasonOf, testClient } from "../../support/net.ts";
import { type Api, type Respond, sendText, startApi } from "./api.ts";

interface Bench extends AsyncDisposable {
  api: Api;
  pauses: string[];
  replay(recipe: object, more?: Partial<PageRequest>): Promise<PageAnswer>;
}

async function bench(respond: Respond, deps: Partial<ReplayDeps> = {}): Promise<Bench> {
  const api = await startApi(respond);
  const client = testClient();
  const pauses: string[] = [];
  const strategy = createReplayStrategy({
    client,
    clock: systemClock,
    limits: {},
    pause: async (_signal, url) => void pauses.push(url.slice(api.origin.length)),
    ...deps,
  });
  return {
    api,
    pauses,
    replay: (recipe, more = {}) =>
      strategy.fetch({
        url: api.url("/"),
        credentials: null,
        timeoutMs: 20_000,
        maxBodyBytes: 1024 * 1024,
        replay: recipe,
        ...more,
      }),
    async [Symbol.asyncDispose]() {
      await client.close();
      await api[Symbol.asyncDispose]();
    },
  };
}

const items = (answer: PageAnswer) => JSON.parse(answer.body as string) as unknown;
/** 25 things, ten to a page. */
const THINGS = Array.from({ length: 25 }, (_, index) => ({ id: index }));
const slice = (from: number, size = 10) => THINGS.slice(from, from + size);

describe("the pages of an API", () => {
  it("are followed by number until one is empty, with a pause before each but the first", async () => {
    await using t = await bench((_call, url) => ({ data: slice((Number(url.searchParams.get("page")) - 1) * 10) }));
    const answer = await t.replay({
      request: { url: t.api.url("/items?q=a%20b&page=7&sort=up") },
      items: "$.data[*]",
      pagination: { kind: "page", param: "page" },
    });
    assert.deepEqual(items(answer), THINGS);
    assert.deepEqual(
      t.api.calls.map(({ path }) => path),
      [1, 2, 3, 4].map((page) => `/items?q=a%20b&page=${page}&sort=up`),
    );
    assert.deepEqual(
      t.pauses,
      [2, 3, 4].map((page) => `/items?q=a%20b&page=${page}&sort=up`),
    );
    assert.deepEqual(
      [answer.status, answer.contentType, answer.requests, answer.headers["content-type"]],
      [200, "application/json", 4, "application/json"],
    );
    assert.equal(answer.headers["content-length"], undefined, "the body is made of several");
    assert.equal(answer.finalUrl, t.api.url("/items?q=a%20b&page=4&sort=up"));
  });

  it("are followed by offset, also when the page's size has to be asked for", async () => {
    await using t = await bench((_call, url) =>
      slice(Number(url.searchParams.get("skip")), Number(url.searchParams.get("top"))),
    );
    const answer = await t.replay({
      request: { url: t.api.url("/items") },
      pagination: { kind: "offset", param: "skip", limit: 12, limit_param: "top" },
    });
    assert.deepEqual(items(answer), THINGS);
    assert.deepEqual(
      t.api.calls.map(({ path }) => path),
      ["/items?skip=0&top=12", "/items?skip=12&top=12", "/items?skip=24&top=12", "/items?skip=36&top=12"],
    );
  });

  it("are followed by cursor until there is none", async () => {
    await using t = await bench((_call, url) => {
      const from = Number(url.searchParams.get("after") ?? 0);
      return { list: slice(from), meta: { next: from + 10 < 25 ? from + 10 : null } };
    });
    const answer = await t.replay({
      request: { url: t.api.url("/items") },
      items: "$.list[*]",
      pagination: { kind: "cursor", param: "after", next: "$.meta.next" },
    });
    assert.deepEqual(items(answer), THINGS);
    assert.deepEqual(
      t.api.calls.map(({ path }) => path),
      ["/items", "/items?after=10", "/items?after=20"],
    );
  });

  it("are followed by the link in the answer, and by the Link header", async () => {
    await using t = await bench((_call, url, response) => {
      const from = Number(url.searchParams.get("from") ?? 0);
      const next = from + 10 < 25 ? `?from=${from + 10}` : null;
      if (url.pathname === "/header" && next !== null) response.setHeader("link", `<${next}>; rel="next"`);
      return url.pathname === "/header" ? slice(from) : { results: slice(from), next };
    });
    const byAnswer = await t.replay({
      request: { url: t.api.url("/answer") },
      items: "$.results[*]",
      pagination: { kind: "link", next: "$.next" },
    });
    assert.deepEqual(items(byAnswer), THINGS);
    const byHeader = await t.replay({ request: { url: t.api.url("/header") }, pagination: { kind: "link" } });
    assert.deepEqual([items(byHeader), byHeader.requests], [THINGS, 3]);
  });

  it("are asked for in a JSON body, where a text stays a text", async () => {
    await using t = await bench((call) => slice((Number(JSON.parse(call.body).variables.page) - 1) * 10));
    const body = { query: "{ things }", variables: { page: "1", size: 10 } };
    const answer = await t.replay({
      request: { method: "POST", url: t.api.url("/graphql"), body },
      pagination: { kind: "page", pointer: "/variables/page" },
    });
    assert.deepEqual(items(answer), THINGS);
    assert.deepEqual(JSON.parse(t.api.calls[2]?.body ?? ""), { ...body, variables: { page: "3", size: 10 } });
    assert.equal(t.api.calls[0]?.headers["content-type"], "application/json");
  });

  it("are asked for in a form", async () => {
    await using t = await bench((call) => slice(Number(new URLSearchParams(call.body).get("p")) * 10));
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await t.replay({
      request: { method: "POST", url: t.api.url("/ajax"), headers, body: "action=more&p=0" },
      pagination: { kind: "page", param: "p", in: "form", start: 0 },
    });
    assert.deepEqual(items(answer), THINGS);
    assert.equal(t.api.calls[1]?.body, "action=more&p=1");
  });

  it("end at max_pages", async () => {
    await using t = await bench((_call, url) => [Number(url.searchParams.get("p"))]);
    const recipe = { request: { url: t.api.url("/") }, pagination: { kind: "page", param: "p", max_pages: 3 } };
    assert.deepEqual(items(await t.replay(recipe)), [1, 2, 3]);
    assert.equal(t.api.calls.length, 3);
  });

  it("end when the same items come again, which are not counted twice", async () => {
    await using t = await bench((_call, url) => slice(Math.min(Number(url.searchParams.get("p")), 2) * 10));
    const answer = await t.replay({
      request: { url: t.api.url("/") },
      pagination: { kind: "page", param: "p", start: 0, max_pages: 100 },
    });
    assert.deepEqual([items(answer), answer.requests], [THINGS, 4]);
  });

  it("end when the links lead round in a circle", async () => {
    await using t = await bench((_call, url) => {
      const at = Number(url.searchParams.get("at") ?? 0);
      return { items: [at], next: `/?at=${(at + 1) % 3}` };
    });
    const answer = await t.replay({
      request: { url: t.api.url("/?at=0") },
      items: "$.items[*]",
      pagination: { kind: "link", next: "$.next", max_pages: 100 },
    });
    assert.deepEqual(items(answer), [0, 1, 2]);
  });

  it("of which there is only one are the whole answer, its elements, or what items names", async () => {
    await using t = await bench((_call, url) => (url.pathname === "/one" ? { id: 1 } : [{ id: 1 }, { id: 2 }]));
    assert.deepEqual(items(await t.replay({ request: { url: t.api.url("/one") } })), [{ id: 1 }]);
    assert.deepEqual(items(await t.replay({ request: { url: t.api.url("/two") } })), [{ id: 1 }, { id: 2 }]);
    const none = await t.replay({ request: { url: t.api.url("/one") }, items: "$.elsewhere[*]" });
    assert.deepEqual([items(none), none.status], [[], 200]);
  });

  it("may be empty or guarded against being run as a script", async () => {
    await using t = await bench((_call, url, response) => {
      if (url.pathname === "/guarded") sendText(response, 200, "application/json", `)]}'\n[1]`);
      else response.writeHead(204).end();
    });
    assert.deepEqual(items(await t.replay({ request: { url: t.api.url("/guarded") } })), [1]);
    assert.deepEqual(items(await t.replay({ request: { url: t.api.url("/nothing") } })), []);
  });
});

describe("an API that does not answer as it should", () => {
  const pages = { kind: "page", param: "p", max_pages: 5 };

  it("has its first page handed on, whatever the status", async () => {
    await using t = await bench((_call, _url, response) => sendText(response, 403, "text/html", "<h1>No"));
    const answer = await t.replay({ request: { url: t.api.url("/") }, pagination: pages });
    assert.deepEqual([answer.status, answer.contentType, String(answer.body)], [403, "text/html", "<h1>No"]);
  });

  it("fails with the page's number and what is known when a later page fails: nothing partial is passed off as whole", async () => {
    await using t = await bench((_call, url, response) => {
      if (url.searchParams.get("p") !== "3") return [url.search];
      response.setHeader("retry-after", "7");
      return void sendText(response, 429, "application/json", "{}");
    });
    const failure = await failureOf(t.replay({ request: { url: t.api.url("/") }, pagination: pages }));
    assert.deepEqual(
      [failure.reason, failure.httpStatus, failure.retryAfterMs],
      ["http_too_many_requests", 429, 7_000],
    );
    assert.match(failure.message, /^page 3 of the API: .*429/);
  });

  it("fails with the reason of the wire when a later page breaks off", async () => {
    await using t = await bench((_call, url, response) => {
      if (url.searchParams.get("p") === "1") return [1];
      response.writeHead(200, { "content-length": 1000 });
      response.write("[1,");
      return void setImmediate(() => response.destroy());
    });
    const failure = await failureOf(t.replay({ request: { url: t.api.url("/") }, pagination: pages }));
    assert.match(failure.message, /^page 2 of the API: /);
    assert.equal(failure.code === "bad_response" || failure.code === "network", true, failure.reason);
  });

  it("has a challenge instead of JSON handed on as it is, on any page", async () => {
    await using t = await bench((_call, url, response) => {
      if (url.searchParams.get("p") === "1") return [1];
      return void sendText(response, 200, "text/html; charset=utf-8", "<title>Just a moment...</title>");
    });
    const answer = await t.replay({ request: { url: t.api.url("/") }, pagination: pages });
    assert.equal(String(answer.body), "<title>Just a moment...</title>");
    assert.deepEqual([answer.contentType, answer.requests], ["text/html; charset=utf-8", 2]);
  });

  it("fails when an answer is neither JSON nor a page", async () => {
    await using t = await bench((_call, _url, response) => sendText(response, 200, "text/plain", "try again"));
    const failure = await failureOf(t.replay({ request: { url: t.api.url("/") } }));
    assert.equal(failure.reason, "malformed_response");
    assert.match(failure.message, /page 1 .* not JSON \(text\/plain\)/);
  });

  it("fails when its items are nested deeper than can be written", async () => {
    await using t = await bench((_call, _url, response) =>
      sendText(response, 200, "application/json", "[".repeat(200_000) + "]".repeat(200_000)),
    );
    assert.equal(await reasonOf(t.replay({ request: { url: t.api.url("/") } })), "bad_response/malformed_response");
  });

  it("fails when one answer has more values than can be held", async () => {
    await using t = await bench((_call, _url, response) =>
      sendText(response, 200, "application/json", `[${"{},".repeat(1_600_000)}1]`),
    );
    const failure = await failureOf(t.replay({ request: { url: t.api.url("/") } }, { maxBodyBytes: 20_000_000 }));
    assert.equal(failure.reason, "body_too_large");
    assert.match(failure.message, /page 1 .*more than 1500000 values: request smaller pages/);
  });

  it("fails when all pages together are larger than allowed", async () => {
    await using t = await bench((_call, url) => [url.search + "x".repeat(4_000)]);
    const recipe = { request: { url: t.api.url("/") }, pagination: { kind: "page", param: "p", max_pages: 100 } };
    const failure = await failureOf(t.replay(recipe, { maxBodyBytes: 10_000 }));
    assert.equal(failure.reason, "body_too_large");
    assert.match(failure.message, /page 3 .*together are larger than 10000 bytes/);
    assert.equal(t.api.calls.length, 3);
  });

  it("fails when the next page is on another site", async () => {
    await using t = await bench(() => ({ items: [1], next: "http://127.0.0.9/steal" }));
    const recipe = {
      request: { url: t.api.url("/"), headers: { "x-api-key": "secret" } },
      items: "$.items[*]",
      pagination: { kind: "link", next: "$.next" },
    };
    const failure = await failureOf(t.replay(recipe));
    assert.equal(failure.reason, "url_not_allowed");
    assert.match(failure.message, /page 1: the next page is on another site \(127\.0\.0\.9\)/);
  });

  it("fails when the cursor is no cursor", async () => {
    await using t = await bench(() => ({ items: [1], next: { a: 1 } }));
    const recipe = {
      request: { url: t.api.url("/") },
      items: "$.items[*]",
      pagination: { kind: "cursor", param: "c", next: "$.next" },
    };
    assert.equal(await reasonOf(t.replay(recipe)), "bad_response/malformed_response");
  });

  it("a recipe with mistakes is refused with their paths, and nothing is sent", async () => {
    await using t = await bench(() => []);
    const failure = await failureOf(t.replay({ request: { url: t.api.url("/") }, items: "$..x", pagination: {} }));
    assert.equal(failure.reason, "request_invalid");
    assert.match(failure.message, /replay\.items: .*; replay\.pagination\.kind: /);
    assert.equal(t.api.calls.length, 0);
  });
});

describe("what is sent to an API", () => {
  it("are the recipe's headers, and credentials where they belong", async () => {
    await using t = await bench(() => [1]);
    const recipe = { request: { url: t.api.url("/items"), headers: { "X-Shop": "de" } } };
    const mine = {
      ...noCredentials(t.api.origin),
      headers: { authorization: "Bearer mine" },
      cookies: [{ name: "sid", value: "1" }],
    };
    await t.replay(recipe, { credentials: mine });
    await t.replay(recipe, { credentials: { ...mine, origin: "http://other.example" } });
    const sent = t.api.calls.map(({ headers }) => [headers["x-shop"], headers["authorization"], headers["cookie"]]);
    assert.deepEqual(sent, [
      ["de", "Bearer mine", "sid=1"],
      ["de", undefined, undefined],
    ]);
  });

  it("stays at home when a page redirects elsewhere", async () => {
    await using elsewhere = await startApi(() => [1]);
    await using t = await bench((_call, _url, response) =>
      response.writeHead(302, { location: `${elsewhere.origin}/x` }).end(),
    );
    const credentials = { ...noCredentials(t.api.origin), headers: { authorization: "Bearer mine" } };
    const recipe = { request: { url: t.api.url("/items"), headers: { "X-Api-Key": "secret" } } };
    assert.deepEqual(items(await t.replay(recipe, { credentials })), [1]);
    const { authorization, "x-api-key": key } = elsewhere.calls[0]?.headers ?? {};
    assert.deepEqual([authorization, key], [undefined, undefined]);
    const declined = await t.replay(recipe, { credentials, followRedirects: () => false });
    assert.deepEqual([declined.status, declined.notFollowed], [302, `${elsewhere.origin}/x`]);
    assert.equal(elsewhere.calls.length, 1);
  });

  it("keeps its body at home, too: a redirect that would carry it elsewhere fails the call", async () => {
    await using elsewhere = await startApi(() => [1]);
    let status = 307;
    await using t = await bench((call, _url, response) => {
      if (call.path === "/here") return [call.body];
      const to = call.path === "/items" ? `${elsewhere.origin}/x` : "/here";
      return void response.writeHead(status, { location: to }).end();
    });
    const recipe = (path: string) => ({
      request: { method: "POST", url: t.api.url(path), body: { token: "secret" } },
    });
    for (status of [307, 308]) {
      const { reason, message } = await failureOf(t.replay(recipe("/items")));
      assert.equal(reason, "bad_redirect");
      assert.match(message, /another origin/);
      assert.deepEqual(items(await t.replay(recipe("/moved"))), ['{"token":"secret"}'], "its own origin may have it");
    }
    assert.equal(elsewhere.calls.length, 0);
    status = 303;
    await t.replay(recipe("/items"));
    assert.deepEqual([elsewhere.calls[0]?.method, elsewhere.calls[0]?.body], ["GET", ""]);
  });

  it("stops between two pages when the run is stopped", async () => {
    const stop = new AbortController();
    await using t = await bench(() => [stop.signal.aborted], { pause: async () => stop.abort(new Error("stopped")) });
    const recipe = { request: { url: t.api.url("/") }, pagination: { kind: "page", param: "p" } };
    await assert.rejects(t.replay(recipe, { signal: stop.signal }), /stopped/);
    assert.equal(t.api.calls.length, 1);
  });
});
