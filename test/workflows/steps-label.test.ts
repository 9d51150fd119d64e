import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { FetchFailure } from "../../src/domain/run/failure.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { Item } from "../../src/workflows/step-kind.ts";
import { labelStep } from "../../src/workflows/steps/label.ts";
import { faultsOf, StepHarness } from "./step-kit.ts";

const picture = (url: string, more: Item = {}): Item => ({ url, content_type: "image/jpeg", ...more });

async function labelsOf(params: Record<string, JsonValue>, inputs: Item[]) {
  await using harness = new StepHarness();
  const { output, items } = await harness.done(labelStep, params, { inputs });
  return { output, labels: items.map(({ label }) => label ?? null) };
}

interface Asked {
  type: string | undefined;
  auth: string | undefined;
  body: Buffer;
}

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
}

/** A model that answers as it is told. */
async function model(answer: (asked: Asked, n: number) => Answer | Promise<Answer>) {
  const asked: Asked[] = [];
  let now = 0;
  let most = 0;
  const server: Server = createServer(async (request, response) => {
    now += 1;
    most = Math.max(most, now);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = {
      type: request.headers["content-type"],
      auth: request.headers.authorization,
      body: Buffer.concat(chunks),
    };
    asked.push(one);
    const { status = 200, headers, body } = await answer(one, asked.length - 1);
    now -= 1;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/label`;
  return {
    url,
    asked,
    most: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("labels", () => {
  it("are the same for all, when one is named", async () => {
    const { output, labels } = await labelsOf({ label: "cat" }, [picture("https://a.example/1"), {}]);
    assert.deepEqual(output, { labelled: 2, unlabelled: 0, failed: 0, labels: { cat: 2 } });
    assert.deepEqual(labels, ["cat", "cat"]);
  });

  it("come from the first rule whose conditions are all met", async () => {
    const rules = [
      { label: "tiny", width: { max: 31 } },
      { label: "cat", url: ["**/cats/**", "/kitten[0-9]+/"] },
      { label: "dog", folder: "Dogs", content_type: "image/*" },
      { label: "shop", host: "*.shop.example", bytes: { min: 100 } },
      { label: "sale", fields: { "data.tags": null, "data.title": "/\\bsale\\b/i", "data.kind": ["a", "b"] } },
    ];
    const inputs = [
      picture("https://a.example/cats/1.jpg", { image: { width: 16 } }),
      picture("https://a.example/cats/1.jpg", { image: { width: 640 } }),
      picture("https://a.example/x/kitten12.jpg"),
      picture("https://a.example/pets/dogs/1.jpg"),
      picture("https://a.example/pets/dogs/1.pdf", { content_type: "application/pdf" }),
      picture("https://img.shop.example/1", { bytes: 100 }),
      picture("https://img.shop.example/1", { bytes: 99 }),
      { data: { title: "Great SALE today", kind: "b" } },
      { data: { title: "Great SALE today", kind: "c" } },
      { data: { title: "Great SALE today", kind: "b", tags: "x" } },
    ];
    const { output, labels } = await labelsOf({ rules }, inputs);
    assert.deepEqual(labels, ["tiny", "cat", "cat", "dog", null, "shop", null, "sale", null, null]);
    assert.deepEqual(output, {
      labelled: 6,
      unlabelled: 4,
      failed: 0,
      labels: { cat: 2, dog: 1, sale: 1, shop: 1, tiny: 1 },
    });
    const rest = await labelsOf({ rules: [...rules, { label: "other" }], drop_unlabelled: true }, inputs);
    assert.equal(rest.output["labelled"], 10);
    const dropped = await labelsOf({ rules, drop_unlabelled: true }, inputs);
    assert.equal(dropped.labels.length, 6);
  });

  it("come from the folder, the host, what was searched for, or a field", async () => {
    const inputs: Item[] = [
      picture("https://a.example/img/Golden%20Retriever/1.jpg"),
      picture("https://b.example/1.jpg", { source_url: "https://b.example/search?q=red+panda", fields: { kind: 7 } }),
      picture("https://c.example/?query=x", { search_term: "owl", fields: { kind: " " } }),
      { name: "no address" },
    ];
    assert.deepEqual((await labelsOf({ from: "folder" }, inputs)).labels, ["Golden Retriever", null, null, null]);
    assert.deepEqual((await labelsOf({ from: "host" }, inputs)).labels, ["a.example", "b.example", "c.example", null]);
    assert.deepEqual((await labelsOf({ from: "search_term" }, inputs)).labels, [null, "red panda", "owl", null]);
    assert.deepEqual((await labelsOf({ from: "field:fields.kind" }, inputs)).labels, [null, "7", null, null]);
  });

  it("are refused when it is not clear what they are to be", async () => {
    assert.notDeepEqual(faultsOf(labelStep, {}), []);
    assert.notDeepEqual(faultsOf(labelStep, { from: "colour" }), []);
    assert.notDeepEqual(faultsOf(labelStep, { rules: [{ label: "a", colour: "red" }] }), []);
    const messagesOf = (params: Record<string, JsonValue>) =>
      labelStep.check!(params, []).map(({ path, message }) => `${path}: ${message}`);
    for (const params of [{ label: null }, { label: "a", from: "host" }])
      assert.match(messagesOf(params).join(), /^params: expected one of/);
    assert.match(messagesOf({ rules: [{ label: "a", url: "/(?=x)y/" }] }).join(), /^params\.rules\[0\]\.url: "/);
    assert.deepEqual(messagesOf({ rules: [{ label: "a", url: "**/x/**" }] }), []);
  });
});

describe("labels by a model", () => {
  it("send the file, a few at a time, and keep the order", async () => {
    await using harness = new StepHarness();
    await using endpoint = await model(({ body }) => ({ body: { label: body.toString().slice(0, 3), score: 0.5 } }));
    const inputs = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        harness.file(`${n % 2 === 0 ? "cat" : "dog"} ${n}`, { content_type: "image/png" }),
      ),
    );
    const params = { endpoint: { url: endpoint.url, concurrency: 3, headers: { Authorization: "Bearer x" } } };
    const { output, items } = await harness.done(labelStep, params, { inputs });
    assert.deepEqual(output, { labelled: 40, unlabelled: 0, failed: 0, labels: { cat: 20, dog: 20 } });
    assert.deepEqual(
      items.map(({ hash, label, label_score: score }) => [hash, label, score]),
      inputs.map(({ hash }, n) => [hash, n % 2 === 0 ? "cat" : "dog", 0.5]),
    );
    assert.ok(endpoint.most() <= 3, `${endpoint.most()} at once`);
    assert.ok(endpoint.asked.every(({ type, auth }) => type === "image/png" && auth === "Bearer x"));
  });

  it("send the item where there is no file, or where that is wanted", async () => {
    await using harness = new StepHarness();
    await using endpoint = await model(({ body }) => ({ body: { label: (JSON.parse(body.toString()) as Item).name } }));
    const file = await harness.file("bytes", { name: "a" });
    const { items } = await harness.done(
      labelStep,
      { endpoint: { url: endpoint.url, send: "item" } },
      { inputs: [file] },
    );
    assert.equal(items[0]?.label, "a");
    const plain = await harness.done(labelStep, { endpoint: endpoint.url }, { inputs: [{ name: "b" }] });
    assert.equal(plain.items[0]?.label, "b");
    assert.ok(endpoint.asked.every(({ type }) => type === "application/json"));
  });

  it("count what could not be had, and fail only when it is too much", async () => {
    await using harness = new StepHarness();
    const answers = [
      { body: { label: "cat", score: 0.9 } },
      { status: 500, body: "broken" },
      { body: "no JSON" },
      { body: { label: "cat", score: 0.1 } },
      { body: { label: null } },
    ];
    await using endpoint = await model((_, n) => answers[n % answers.length]!);
    const inputs = answers.map((_, n) => ({ name: String(n) }));
    const params = { url: endpoint.url, concurrency: 1, min_score: 0.5 };
    const { output, items } = await harness.done(labelStep, { endpoint: params }, { inputs });
    assert.deepEqual(output, { labelled: 1, unlabelled: 4, failed: 2, labels: { cat: 1 } });
    assert.match(String(items[1]?.["label_error"]), /500/);
    assert.match(String(items[2]?.["label_error"]), /did not answer/);
    await assert.rejects(
      harness.done(labelStep, { endpoint: { ...params, max_failed_ratio: 0.3 } }, { inputs }),
      (error) => error instanceof FetchFailure && /2 of 5 items/.test(error.message),
    );
    await using dead = await model(() => ({ status: 503, body: "" }));
    await assert.rejects(
      harness.done(labelStep, { endpoint: dead.url }, { inputs }),
      (error) => error instanceof FetchFailure && error.failure.reason === "http_server_error",
    );
  });

  it("stop when nobody answers any more, and do not take a redirect for an answer", async () => {
    await using harness = new StepHarness();
    const inputs = Array.from({ length: 300 }, (_, n) => ({ name: String(n) }));
    await using dying = await model((_, n) => (n < 5 ? { body: { label: "cat" } } : { status: 500, body: "" }));
    const lost = (error: unknown) => error instanceof FetchFailure && /20 requests in a row failed/.test(error.message);
    await assert.rejects(harness.done(labelStep, { endpoint: dying.url }, { inputs }), lost);
    assert.ok(dying.asked.length < 35, `${dying.asked.length} requests`);
    // What it refuses is the fault of the items, however many there are.
    await using picky = await model((_, n) => (n === 0 ? { body: { label: "cat" } } : { status: 422, body: "" }));
    const { output } = await harness.done(labelStep, { endpoint: picky.url }, { inputs });
    assert.deepEqual([output["labelled"], output["failed"]], [1, 299]);
    await using moved = await model(() => ({ status: 302, headers: { location: "/login" }, body: { label: "cat" } }));
    await assert.rejects(
      harness.done(labelStep, { endpoint: moved.url }, { inputs: [{}] }),
      (error) => error instanceof FetchFailure && /redirect to .*\/login/.test(error.message),
    );
    assert.equal(moved.asked.length, 1);
  });

  it("wait as long as the model asks for, if that is not long", async () => {
    await using harness = new StepHarness();
    const busy = (seconds: string) => ({ status: 429, headers: { "retry-after": seconds }, body: "" });
    await using endpoint = await model((_, n) => (n < 2 ? busy("0.05") : { body: { label: "cat" } }));
    const params = { endpoint: { url: endpoint.url, concurrency: 1 } };
    const { output } = await harness.done(labelStep, params, { inputs: [{}, {}] });
    assert.deepEqual([output["labelled"], endpoint.asked.length], [2, 4]);
    await using closed = await model(() => busy("86400"));
    await assert.rejects(harness.done(labelStep, { endpoint: closed.url }, { inputs: [{}] }), /429/);
    assert.equal(closed.asked.length, 1);
  });

  it("end at once when the step is not wanted any more", async () => {
    await using harness = new StepHarness();
    const stop = new AbortController();
    await using endpoint = await model(async () => {
      stop.abort(new Error("cancelled"));
      await new Promise(() => {});
      return { body: {} };
    });
    const inputs = Array.from({ length: 100 }, (_, n) => ({ name: String(n) }));
    await assert.rejects(
      harness.done(labelStep, { endpoint: endpoint.url }, { inputs, signal: stop.signal }),
      /cancelled/,
    );
    assert.ok(endpoint.asked.length <= 4);
  });
});
