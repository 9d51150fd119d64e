import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { writeJob } from "../../../src/fetch/replay/job.ts";
import { parseReplay } from "../../../src/fetch/replay/recipe.ts";
import { best, PRODUCTS } from "./exchanges.ts";

describe("the job that is written", () => {
  it("asks again what was asked, and suggests the fields", () => {
    const ranked = best(
      { data: PRODUCTS },
      { url: "https://shop.example/api/products?page=1#x", headers: { accept: "application/json", "x-shop": "de" } },
    );
    assert.deepEqual(writeJob(ranked), {
      job: {
        target_url: "https://shop.example/api/products?page=1",
        strategy: "api_replay",
        replay: {
          request: {
            method: "GET",
            url: "https://shop.example/api/products?page=1",
            headers: { accept: "application/json", "x-shop": "de" },
          },
          items: "$.data[*]",
          pagination: { kind: "page", param: "page", start: 1, step: 1 },
        },
        fields: {
          sku: { jsonpath: "$.sku" },
          name: { jsonpath: "$.name" },
          price_amount: { jsonpath: "$.price.amount" },
          price_currency: { jsonpath: "$.price.currency" },
        },
      },
      left_out: [],
    });
  });

  it("holds no key to anything, and says what it left out", () => {
    const secret = "do-not-copy-me";
    const ranked = best(
      { data: PRODUCTS },
      {
        method: "POST",
        url: `https://me:${secret}@shop.example/api/products?page=1&api_key=${secret}&accessToken=${secret}&color=red`,
        headers: {
          cookie: `sid=${secret}`,
          authorization: `Bearer ${secret}`,
          "x-csrf-token": secret,
          "x-api-key": secret,
          "x-custom": `Bearer ${secret}`,
          "x-author": "kept",
          "user-agent": "Browser/1",
          "sec-fetch-mode": "cors",
          referer: `https://shop.example/?t=${secret}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({
          query: "x",
          auth: { sessionId: secret },
          password: secret,
          list: [`eyJhbGci.${secret}.x`],
        }),
      },
    );
    const written = writeJob(ranked);
    assert.ok(!JSON.stringify(written).includes(secret));
    assert.deepEqual(
      written.left_out.map((one) => `${one.in} ${one.name}`),
      [
        "headers authorization",
        "query api_key",
        "query accessToken",
        "body /auth/sessionId",
        "body /password",
        "body /list/0",
        "headers cookie",
        "headers x-csrf-token",
        "headers x-api-key",
        "headers x-custom",
      ],
    );
    assert.deepEqual(written.job.replay.request, {
      method: "POST",
      url: "https://shop.example/api/products?page=1&color=red",
      headers: { "x-author": "kept", "content-type": "application/json" },
      body: { query: "x", auth: {}, list: [null] },
    });
    assert.equal(parseReplay(written.job.replay, "replay").errors, undefined);
  });

  it("leaves secrets out of forms too", () => {
    const ranked = best({ data: PRODUCTS }, { method: "POST", body: "action=more&csrf_token=abc&page=1" });
    const { job, left_out } = writeJob(ranked);
    assert.equal(job.replay.request["body"], "action=more&page=1");
    assert.deepEqual(left_out, [{ in: "body", name: "csrf_token" }]);
  });

  it("begins at the first page when a later one was recorded, and takes a cursor for no secret", () => {
    const answer = { rows: PRODUCTS, nextPageToken: "abc" };
    const ranked = best(answer, { url: "https://shop.example/api?pageToken=xyz&q=1" });
    const { job, left_out } = writeJob(ranked);
    assert.equal(job.target_url, "https://shop.example/api?q=1");
    assert.deepEqual([job.replay.pagination?.["param"], left_out], ["pageToken", []]);
  });

  it("has the fields of the answer itself when there is no list", () => {
    const { job } = writeJob(best({ title: "Walnut table", tags: ["a"], deep: { er: { than: 1 } }, nothing: null }));
    assert.deepEqual(job.fields, { title: { jsonpath: "$.title" }, tags: { jsonpath: "$.tags" } });
    assert.equal(job.replay.items, undefined);
  });
});
