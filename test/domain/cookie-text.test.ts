import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../support/properties.ts";
import { readCookieText } from "../../src/domain/page/cookie-text.ts";

const read = (text: string) => {
  const got = readCookieText(text);
  return "cookies" in got ? got.cookies : assert.fail(got.error);
};

describe("cookies as people paste them", { concurrency: true }, () => {
  test("the value of a Cookie header, with or without its name, or one cookie in each line", () => {
    const both = [
      { name: "sid", value: "a=b" },
      { name: "lang", value: "en" },
    ];
    for (const text of ["sid=a=b; lang=en", "Cookie: sid=a=b; lang=en;", "sid=a=b\nlang=en\n"])
      assert.deepEqual(read(text), both, text);
  });

  test("JSON of Playwright, of a browser's extension, and by name", () => {
    assert.deepEqual(read(`{"cookies": [{"name": "sid", "value": "x", "domain": ".a.example", "path": "/"}]}`), [
      { name: "sid", value: "x", domain: ".a.example", path: "/" },
    ]);
    const exported = { name: "sid", value: "x", domain: ".a.example", hostOnly: true, session: true, storeId: "0" };
    assert.deepEqual(
      read(JSON.stringify([{ ...exported, expirationDate: 2e9, sameSite: "no_restriction", secure: true, path: "/" }])),
      [{ name: "sid", value: "x", domain: "a.example", path: "/", expires: 2e9, secure: true, sameSite: "None" }],
    );
    assert.deepEqual(read(`{"sid": "x", "lang": "en"}`), [
      { name: "sid", value: "x" },
      { name: "lang", value: "en" },
    ]);
  });

  test("a Netscape cookies.txt", () => {
    const text = [
      "# Netscape HTTP Cookie File",
      "",
      ".a.example\tTRUE\t/\tTRUE\t2000000000\tsid\tx",
      "#HttpOnly_a.example\tFALSE\t/in\tFALSE\t0\tinner\ty",
    ].join("\n");
    assert.deepEqual(read(text), [
      { name: "sid", value: "x", domain: ".a.example", path: "/", expires: 2_000_000_000, secure: true },
      { name: "inner", value: "y", domain: "a.example", path: "/in", secure: false, httpOnly: true },
    ]);
  });

  test("what is none of these is refused without being repeated", () => {
    for (const text of ["", "  ", "my-secret", "{my-secret", "[1]", `{"a": 1}`, "[]x", "a.example\tmy-secret"]) {
      const got = readCookieText(text);
      assert.ok("error" in got, text);
      assert.doesNotMatch(got.error, /my-secret/);
    }
    fc.assert(fc.property(fc.string(), (text) => void readCookieText(text)));
  });
});
