import assert from "node:assert/strict";
import { test } from "node:test";
import { noCredentials } from "../../src/domain/text/credentials.ts";
import { credentialHeaders } from "../../src/fetch/http/page.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const URL_OF_PAGE = new URL("https://shop.example/account/orders");

function cookiesSent(
  cookies: { name: string; path?: string; domain?: string; expires?: number }[],
): string | undefined {
  const credentials = {
    ...noCredentials(URL_OF_PAGE.origin),
    cookies: cookies.map((cookie) => ({ value: "1", ...cookie })),
  };
  return credentialHeaders(credentials, URL_OF_PAGE, NOW)["cookie"];
}

test("a session's cookies are sent until they expire", () => {
  const sent = cookiesSent([
    { name: "session" },
    { name: "untilClosed", expires: -1 },
    { name: "later", expires: NOW / 1000 + 1 },
    { name: "expired", expires: NOW / 1000 },
  ]);
  assert.equal(sent, "session=1; untilClosed=1; later=1");
});

test("cookies of other paths and hosts are not sent", () => {
  const sent = cookiesSent([
    { name: "here", path: "/account", domain: ".shop.example" },
    { name: "path", path: "/admin" },
    { name: "host", domain: "other.example" },
  ]);
  assert.equal(sent, "here=1");
});

test("when all cookies have expired there is no header", () => {
  assert.equal(cookiesSent([{ name: "expired", expires: 1 }]), undefined);
});
