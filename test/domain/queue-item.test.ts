import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { parseQueueItem, parseQueueLine, QUEUE_ITEM_LIMITS } from "../../src/domain/lane/queue-item.ts";

const good = { artifact_id: "a-1", url: "https://example.com/a" };

function errorsOf(value: unknown): Record<string, string> {
  return Object.fromEntries((parseQueueItem(value).errors ?? []).map((error) => [error.path, error.message]));
}

test("an item needs a name and an address; the rest has defaults", () => {
  assert.deepEqual(parseQueueItem(good).ok, {
    artifactId: "a-1",
    url: "https://example.com/a",
    concurrencyKey: null,
    priority: 0,
    payload: null,
    handler: null,
  });
});

test("every field is read", () => {
  const all = {
    ...good,
    concurrency_key: "unpaywall",
    priority: -7,
    payload: { doi: ["10.1/x"], n: null },
    handler: "pdf.text",
  };
  const item = parseQueueItem(all).ok;
  assert.equal(item?.concurrencyKey, "unpaywall");
  assert.equal(item?.priority, -7);
  assert.deepEqual(item?.payload, { doi: ["10.1/x"], n: null });
  assert.equal(item?.handler, "pdf.text");
});

test("a concurrency key is also read from its alias `resolver`; two different values are refused", () => {
  const keyOf = (more: object) => parseQueueItem({ ...good, ...more }).ok?.concurrencyKey;
  assert.equal(keyOf({ resolver: "a" }), "a");
  assert.equal(keyOf({ resolver: "a", concurrency_key: "a" }), "a");
  assert.equal(keyOf({ resolver: "a", concurrency_key: null }), "a");
  assert.equal(keyOf({ resolver: null, concurrency_key: "a" }), "a");
  assert.deepEqual(errorsOf({ ...good, resolver: "a", concurrency_key: "b" }), {
    resolver: 'differs from concurrency_key, of which it is an alias: "a" and "b"; set only one of them',
  });
});

test("the address is kept in the form it is fetched by", () => {
  assert.equal(
    parseQueueItem({ ...good, url: "HTTPS://Example.com/%7ea?utm_source=x#f" }).ok?.url,
    "https://example.com/%7ea?utm_source=x",
  );
});

test("all mistakes of an item are told at once", () => {
  const errors = errorsOf({
    url: "ftp://example.com/",
    concurrency_key: "a b",
    priority: 1.5,
    payload: Number.NaN,
    handler: 3,
  });
  assert.deepEqual(Object.keys(errors), ["artifact_id", "url", "concurrency_key", "priority", "payload", "handler"]);
  assert.match(errors["artifact_id"] ?? "", /required/);
  assert.match(errors["url"] ?? "", /http/);
});

for (const [name, value] of Object.entries({
  empty: "",
  blank: "  ",
  number: 12,
  null: null,
  "too long": "x".repeat(513),
  "line break": "a\nb",
  NUL: "a\0b",
  "half a character": "a\ud800",
})) {
  test(`an artifact_id that is ${name} is refused`, () =>
    assert.ok("artifact_id" in errorsOf({ ...good, artifact_id: value })));
}

for (const url of [
  "",
  "/relative",
  "example.com",
  "file:///etc/passwd",
  "javascript:1",
  "http://",
  `http://e.example/${"x".repeat(8192)}`,
  5,
]) {
  test(`the address ${String(url).slice(0, 30)} is refused`, () => assert.ok("url" in errorsOf({ ...good, url })));
}

test("limits hold exactly", () => {
  assert.deepEqual(
    errorsOf({ ...good, artifact_id: "x".repeat(512), priority: 1000, concurrency_key: "r".repeat(128) }),
    {},
  );
  assert.ok("priority" in errorsOf({ ...good, priority: 1001 }));
  for (const name of ["concurrency_key", "resolver"])
    assert.deepEqual(Object.keys(errorsOf({ ...good, [name]: "r".repeat(129) })), [name]);
  const fits = "x".repeat(QUEUE_ITEM_LIMITS.payloadBytes - 2);
  assert.deepEqual(errorsOf({ ...good, payload: fits }), {});
  assert.ok("payload" in errorsOf({ ...good, payload: `${fits}x` }));
  assert.ok("payload" in errorsOf({ ...good, payload: "é".repeat(40_000) }), "bytes count, not characters");
});

test("a payload that is nested too deep, circular or not JSON is refused", () => {
  const deep = JSON.parse(`${"[".repeat(200_000)}${"]".repeat(200_000)}`) as unknown;
  assert.match(errorsOf({ ...good, payload: deep })["payload"] ?? "", /nested/);
  const circle: unknown[] = [];
  circle.push(circle, circle);
  assert.ok("payload" in errorsOf({ ...good, payload: circle }));
  assert.ok("payload" in errorsOf({ ...good, payload: { when: new Date(0) } }));
  assert.ok("payload" in errorsOf({ ...good, payload: { f: () => 1 } }));
});

test("an unknown key is refused with what was probably meant", () => {
  assert.equal(errorsOf({ ...good, priorty: 1 })["priorty"], 'unknown key, did you mean "priority"?');
  assert.equal(errorsOf({ ...good, artifactId: 1 })["artifactId"], 'unknown key, did you mean "artifact_id"?');
  assert.equal(errorsOf({ ...good, colour: 1 })["colour"], "unknown key");
});

test("__proto__ is refused at every depth, and changes nothing", () => {
  const outside = parseQueueLine('{"artifact_id":"a","url":"https://e.example/","__proto__":{"priority":5}}');
  assert.equal(outside.errors?.[0]?.path, "__proto__");
  const inside = parseQueueLine(
    '{"artifact_id":"a","url":"https://e.example/","payload":{"x":[{"__proto__":{"y":1}}]}}',
  );
  assert.equal(inside.errors?.[0]?.path, "payload");
  assert.equal(({} as Record<string, unknown>)["y"], undefined);
});

test("a line that is not an object of JSON is one error without a field", () => {
  for (const line of ["", "{", "[]", "null", '"text"', "12", '{"a":1} {"b":2}']) {
    const { errors } = parseQueueLine(line);
    assert.equal(errors?.length, 1, line);
    assert.equal(errors?.[0]?.path, "", line);
  }
  assert.match(parseQueueLine("x".repeat(2_000_000)).errors?.[0]?.message ?? "", /characters/);
});

test("a byte order mark and Windows line ends do no harm", () => {
  assert.equal(parseQueueLine(`\uFEFF${JSON.stringify(good)}\r`).ok?.artifactId, "a-1");
});

test("no value makes it throw", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const { ok, errors } = parseQueueItem(value);
      assert.notEqual(ok === undefined, errors === undefined);
    }),
  );
});
