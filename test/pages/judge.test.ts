import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../support/properties.ts";
import { classifyStatus } from "../../src/domain/run/classify.ts";
import type { Recipe } from "../../src/domain/run/recipe.ts";
import type { PageAnswer } from "../../src/fetch/page.ts";
import { plainRecipe } from "../../src/domain/run/recipe.ts";
import { judgeAnswer, planSpecOf } from "../../src/pages/judge.ts";
import { sharedPageReader } from "../support/shared-page-reader.ts";
import { read } from "../support/source.ts";

const reader = sharedPageReader();

const NOW = Date.UTC(2026, 2, 1);
const ARTICLE = `<!doctype html><title>Webs</title><h1>Webs</h1><p>${"All about webs. ".repeat(30)}</p>`;

function answer(more: Partial<PageAnswer> = {}): PageAnswer {
  return {
    status: 200,
    finalUrl: "https://site.example/page",
    redirects: [],
    headers: {},
    contentType: "text/html; charset=utf-8",
    body: Buffer.from(ARTICLE),
    durationMs: 1,
    requests: 1,
    ...more,
  };
}

const judge = (answerParts: Partial<PageAnswer>, recipe: Partial<Recipe> = {}, shells = true, wantsJson = false) =>
  judgeAnswer(
    reader,
    answer(answerParts),
    { ...plainRecipe("http"), ...recipe },
    { shells, wantsJson, now: NOW, signal: new AbortController().signal },
  );

const fixture = (name: string) => Buffer.from(read(`test/fixtures/pages/${name}`).replace(/^(?:<!-- .* -->\n)+/, ""));

describe("what an answer turns out to be", { concurrency: true }, () => {
  test("a page: its records, its title and no complaint", async () => {
    const seen = await judge({}, { fields: ["title"] });
    assert.deepEqual([seen.failure, seen.wall, seen.sign, seen.title], [null, null, null, "Webs"]);
    assert.deepEqual(seen.records, [{ title: "Webs" }]);
    assert.deepEqual(seen.read, seen.records);
  });

  test("an error status is judged at once: no thread reads the page, though a wall behind it is seen", async () => {
    const nobody = { ...reader, read: () => assert.fail("it was given to a reader") };
    const options = { shells: true, wantsJson: false, now: NOW, signal: new AbortController().signal };
    const wall = fixture("challenge/checking-your-browser.html");
    for (const [status, body, reason] of [
      [429, Buffer.from(ARTICLE), "http_too_many_requests"],
      [500, Buffer.from(ARTICLE), "http_server_error"],
      [404, Buffer.from(ARTICLE), "http_not_found"],
      [429, wall, "challenge_page"],
    ] as const) {
      const answerParts = answer({ status, body });
      const { failure } = await judgeAnswer(nobody, answerParts, plainRecipe("http"), options);
      assert.equal(failure?.reason, reason);
    }
  });

  test("a wall is a wall with any status: it is no request for patience, and no success", async () => {
    for (const status of [200, 403, 429, 503]) {
      const body = fixture("challenge/checking-your-browser.html");
      const seen = await judge({ status, body, headers: { "retry-after": "5" } });
      assert.deepEqual(
        [seen.failure?.code, seen.failure?.reason, seen.wall],
        ["blocked", "challenge_page", "challenge"],
      );
      assert.equal(seen.failure?.httpStatus, status);
      assert.equal(seen.failure?.retryAfterMs, undefined);
      assert.equal(seen.sign, "checking_browser");
      assert.deepEqual(seen.records, []);
    }
    const captcha = await judge({ body: fixture("captcha/recaptcha-wall.html") });
    assert.deepEqual([captcha.failure?.reason, captcha.wall], ["captcha_page", "captcha"]);
  });

  test("an empty shell is a block for who can do something about it, and a page for who cannot", async () => {
    const body = fixture("shell/create-react-app.html");
    const seen = await judge({ body });
    assert.deepEqual([seen.failure?.code, seen.failure?.reason, seen.wall], ["blocked", "empty_shell", "shell"]);
    const borne = await judge({ body }, { fields: ["title"] }, false);
    assert.deepEqual([borne.failure, borne.records.length], [null, 1]);
  });

  test("Retry-After is read in seconds and as a date", async () => {
    const inSeconds = await judge({ status: 429, headers: { "retry-after": "7" } });
    assert.deepEqual([inSeconds.failure?.reason, inSeconds.failure?.retryAfterMs], ["http_too_many_requests", 7000]);
    const date = new Date(NOW + 90_000).toUTCString();
    assert.equal((await judge({ status: 503, headers: { "retry-after": date } })).failure?.retryAfterMs, 90_000);
    const nonsense = await judge({ status: 503, headers: { "retry-after": "soon" } });
    assert.equal(nonsense.failure?.reason, "http_server_error");
  });

  test("what is no text is not read: with success it is the wrong thing, with an error the error counts", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
    const picture = await judge({ contentType: "image/png", body: bytes });
    assert.deepEqual([picture.failure?.code, picture.failure?.reason], ["bad_response", "not_html"]);
    assert.match(picture.failure?.message ?? "", /image\/png/);
    const missing = await judge({ contentType: "image/png", body: bytes, status: 404 });
    assert.equal(missing.failure?.reason, "http_not_found");
    const untyped = await judge({ contentType: null }, { fields: ["title"] });
    assert.deepEqual(untyped.records, [{ title: "Webs" }]);
  });

  test("a field that must be there and is not: named, with its rule, and no record is kept", async () => {
    const fields = {
      price: { css: ".price", type: "number", required: true },
      heading: { css: "h1", required: true },
    };
    const missing = await judge({}, { fields });
    assert.deepEqual([missing.failure?.code, missing.failure?.reason], ["extraction", "field_missing"]);
    assert.match(missing.failure?.message ?? "", /price/);
    assert.deepEqual(missing.records, []);
    assert.equal(missing.read.length, 1, "for who writes the rules");
    const invalid = await judge({ body: '<h1>x</h1><b class="price">much</b>' }, { fields });
    assert.equal(invalid.failure?.reason, "field_invalid");
    assert.match(invalid.failure?.message ?? "", /much/, "it says what stood there");
    const schema = await judge({}, { fields: ["title"], schema: { type: "object", required: ["price"] } });
    assert.equal(schema.failure?.reason, "schema_mismatch");
  });

  test("of many wrong fields the first few are named and the rest is counted", async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`f${index}`, { css: ".none", required: true }]),
    );
    const { failure, errors } = await judge({}, { fields });
    assert.equal(errors.length, 12);
    assert.match(failure?.message ?? "", /f0.*f4.*and 7 more$/);
    assert.ok(!failure?.message.includes("f5 "));
  });

  test("JSON without rules is its own record, a list of it a list of records", async () => {
    const json = { contentType: "application/json; charset=utf-8" };
    assert.deepEqual((await judge({ ...json, body: '{"a":1}' })).records, [{ a: 1 }]);
    assert.deepEqual((await judge({ ...json, body: ' \n[{"a":1},{"a":2}]' })).records, [{ a: 1 }, { a: 2 }]);
    const text = await judge({ ...json, contentType: "application/ld+json", body: Buffer.from('{"a":1}') });
    assert.deepEqual(text.records, [{ a: 1 }]);
  });

  test("an API that answers with a page fails; with a wall it is a wall, with an error the error", async () => {
    const api = (answerParts: Partial<PageAnswer>) => judge(answerParts, { strategy: "api_replay" }, false, true);
    const sent = await api({});
    assert.deepEqual([sent.failure?.code, sent.failure?.reason], ["bad_response", "malformed_response"]);
    assert.deepEqual(sent.records, []);
    assert.equal((await api({ status: 404 })).failure?.reason, "http_not_found");
    assert.equal((await api({ body: fixture("captcha/recaptcha-wall.html") })).failure?.reason, "captcha_page");
    const json = await api({ contentType: "application/json", body: '[{"a":1}]' });
    assert.deepEqual([json.failure, json.records], [null, [{ a: 1 }]]);
  });

  test("whatever the status, a plain page is what its status says", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 200, max: 599 }), async (status) => {
        const seen = await judge({ status }, { fields: ["title"] });
        const expected = classifyStatus(status, null);
        assert.deepEqual(seen.failure, expected);
        assert.equal(seen.records.length, expected === null ? 1 : 0);
        assert.equal(seen.wall, null);
      }),
      { numRuns: 40 },
    );
  });

  test("whatever the bytes and their type, there is a verdict, and never a record beside a failure", async () => {
    const types = fc.constantFrom(
      null,
      "text/html",
      "text/plain",
      "application/json",
      "application/xml",
      "video/mp4",
      ";",
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), types, fc.boolean(), async (body, contentType, shells) => {
        const seen = await judge({ body, contentType }, {}, shells);
        if (seen.failure !== null) assert.deepEqual(seen.records, []);
      }),
      { numRuns: 60 },
    );
  });
});

test("a page that is called off is not judged", async () => {
  const work = judgeAnswer(reader, answer(), plainRecipe("http"), {
    shells: true,
    wantsJson: false,
    now: NOW,
    signal: AbortSignal.abort(new Error("called off")),
  });
  await assert.rejects(work, /called off/);
});

test("without rules, what a reader wants to know of a page is read", () => {
  assert.deepEqual(planSpecOf(plainRecipe("http")).fields, [
    "title",
    "description",
    "author",
    "published_at",
    "markdown",
  ]);
});
