import assert from "node:assert/strict";
import { test } from "node:test";
import { isUsableCookie } from "../../src/domain/page/cookie.ts";

test("a cookie that browsers write down is usable", () => {
  for (const more of [
    {},
    { value: "" },
    { path: "/a", domain: ".example.com", expires: -1, httpOnly: true, secure: false, sameSite: "Lax" },
    { expires: 1_900_000_000.5, value: "a=b%20c" },
    { value: "x".repeat(4093) },
  ])
    assert.ok(isUsableCookie({ name: "sid", value: "1", ...more }), JSON.stringify(more));
});

test("one that no browser takes is not", () => {
  for (const more of [
    { name: "" },
    { name: "a b" },
    { name: "a=b" },
    { name: 1 },
    { value: "a;b" },
    { value: "a\r\nb" },
    { value: null },
    { value: "x".repeat(4094) },
    { path: "a" },
    { path: "/a;b" },
    { path: 1 },
    { domain: 1 },
    { expires: 0 },
    { expires: -5 },
    { expires: Number.NaN },
    { expires: "tomorrow" },
    { httpOnly: "yes" },
    { secure: 1 },
    { sameSite: "lax" },
  ])
    assert.ok(!isUsableCookie({ name: "sid", value: "1", ...more }), JSON.stringify(more));
  for (const other of [null, undefined, "sid=1", 1, []]) assert.ok(!isUsableCookie(other));
});
