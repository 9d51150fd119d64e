import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseProxy, proxyLines } from "../../src/domain/proxy/proxy-list.ts";
import { parseUpstream } from "../../src/domain/proxy/upstream.ts";

const HTTP = { scheme: "http", hostname: "h.example", port: 8080, credentials: null } as const;
const credentials = { username: "ann", password: "pa://s@s" };

describe("proxies as people write them", () => {
  test("with and without a scheme, with the user before or behind", () => {
    assert.deepEqual(parseProxy("http://h.example:8080"), HTTP);
    assert.deepEqual(parseProxy("http://h.example:8080/"), HTTP);
    assert.deepEqual(parseProxy(" H.example:8080 "), HTTP);
    assert.deepEqual(parseProxy("http://ann:pa%3A%2F%2Fs%40s@h.example:8080"), { ...HTTP, credentials });
    assert.deepEqual(parseProxy("h.example:8080:ann:pa://s@s"), { ...HTTP, credentials });
    assert.deepEqual(parseProxy("SOCKS5://[::1]"), {
      scheme: "socks5",
      hostname: "[::1]",
      port: 1080,
      credentials: null,
    });
    assert.deepEqual(parseProxy("http://h.example:80"), { ...HTTP, port: 80 });
  });

  test("what cannot be one is refused with what is wrong, and nothing of it is repeated", () => {
    const wrong: [string, RegExp][] = [
      ["http://h.example:8080\\", /backslash/],
      ["http://ann:secr\\et@h.example:8080", /backslash.*%5C/],
      ["http://h.example:70000", /invalid port/],
      ["h.example:70000", /invalid port/],
      ["http://h.example:0", /invalid port/],
      ["http://h.example:8080/path", /text after its port/],
      ["http://ann:secr/et@h.example:8080", /%2F/],
      ["http://***@h.example:8080", /masked value/],
      ["ann:***@h.example:8080", /masked value/],
      ["http://:8080", /has no host/],
      ["ftp://h.example:8080", /expected a proxy such as/],
      ["h.example", /expected scheme/],
    ];
    for (const [text, why] of wrong) {
      const said = parseProxy(text);
      assert.ok(typeof said === "string" && why.test(said), `${text}: ${JSON.stringify(said)}`);
      assert.ok(!/secr|h\.example/.test(said));
    }
    assert.equal(typeof parseUpstream("h.example:8080"), "string", "where one proxy is named, its scheme is, too");
  });

  test("remarks, empty lines and marks at the beginning of a file are left out, and lines are counted as they stand", () => {
    assert.deepEqual(proxyLines("\uFEFFa:1\r\n# more\n\n  b:2 \r"), [
      { line: 1, text: "a:1" },
      { line: 4, text: "b:2" },
    ]);
  });
});
