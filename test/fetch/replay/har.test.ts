import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HAR_LIMITS, readHar } from "../../../src/fetch/replay/har.ts";

/** An entry as Chromium writes it, without the parts that nobody reads. */
function entry(request: object = {}, response: object = {}): object {
  return {
    startedDateTime: "2026-01-01T00:00:00.000Z",
    time: 12,
    request: {
      method: "get",
      url: "https://shop.example/api/items?page=1",
      httpVersion: "h2",
      headers: [
        { name: ":path", value: "/api/items" },
        { name: "Accept", value: "application/json" },
        { name: "X-Two", value: "a" },
        { name: "x-two", value: "b" },
      ],
      ...request,
    },
    response: {
      status: 200,
      headers: [{ name: "Content-Type", value: "application/json; charset=utf-8" }],
      content: { size: 9, mimeType: "application/json", text: '{"a": 1}' },
      ...response,
    },
  };
}

const har = (...entries: unknown[]) => ({ log: { version: "1.2", creator: { name: "x" }, entries } });

function mistakes(source: string | object): string[] {
  return (readHar(source).errors ?? []).map(({ path, message }) => `${path}: ${message}`);
}

describe("a HAR file", () => {
  it("gives its exchanges, with lower-case names of headers", () => {
    const { ok } = readHar(`\uFEFF${JSON.stringify(har(entry()))}`);
    assert.deepEqual(ok, {
      exchanges: [
        {
          request: {
            method: "GET",
            url: "https://shop.example/api/items?page=1",
            headers: { accept: "application/json", "x-two": "a, b" },
            body: null,
          },
          response: {
            status: 200,
            headers: { "content-type": "application/json; charset=utf-8" },
            contentType: "application/json; charset=utf-8",
            body: '{"a": 1}',
          },
        },
      ],
      skipped: [],
    });
  });

  it("may have bodies in base64, and answers whose type stands beside the text", () => {
    const text = Buffer.from('{"ü": 1}').toString("base64");
    const content = { mimeType: "application/json", text, encoding: "base64" };
    const { ok } = readHar(har(entry({ method: "POST", postData: { text: "a=1" } }, { headers: [], content })));
    const [exchange] = ok?.exchanges ?? [];
    assert.deepEqual(
      [exchange?.request.body, exchange?.response.body, exchange?.response.contentType],
      ["a=1", '{"ü": 1}', "application/json"],
    );
  });

  it("may hold what is no exchange of data: it is left out, with the reason", () => {
    const large = { text: "x".repeat(HAR_LIMITS.bodyLength + 1) };
    const { ok } = readHar(
      har(
        entry({ url: "data:text/plain,x" }),
        entry({ url: "wss://shop.example/live" }),
        entry({}, { status: 0 }),
        entry({}, { content: {} }),
        entry({}, { content: large }),
        entry({ postData: large }),
        entry(),
      ),
    );
    assert.deepEqual(
      ok?.skipped.map(({ entry, why }) => `${entry} ${why}`),
      [
        "log.entries[0] not fetched over http",
        "log.entries[1] not fetched over http",
        "log.entries[2] there was no response",
        "log.entries[3] the response body was not saved",
        "log.entries[4] the response body is too large",
        "log.entries[5] the request body is too large",
      ],
    );
    assert.equal(ok?.exchanges.length, 1);
  });

  it("is refused when it is none", () => {
    assert.match(mistakes("<html>")[0] ?? "", /^: not a HAR file, because it is not JSON/);
    assert.match(mistakes("[]")[0] ?? "", /^: expected a HAR file/);
    assert.match(mistakes({})[0] ?? "", /^log: is required/);
    assert.match(mistakes({ log: {} })[0] ?? "", /^log\.entries: expected a list/);
    assert.match(mistakes(har(...Array.from({ length: 20_001 }, () => 0)))[0] ?? "", /at most 20000 are read/);
  });

  it("is refused with the place of what is wrong, and not with thousands of them", () => {
    assert.deepEqual(mistakes(har(entry(), 7, { request: {} }, entry({ url: 1 }, { status: "200" }))), [
      "log.entries[1]: expected an object",
      "log.entries[2].response: is required",
      "log.entries[3].request.url: expected a non-empty string",
      "log.entries[3].response.status: expected a number",
    ]);
    assert.equal(mistakes(har(...Array.from({ length: 1_000 }, () => 7))).length, HAR_LIMITS.errors);
  });
});
