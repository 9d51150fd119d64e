import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../support/source.ts";

/** What a linked test proves, by a part of its title or of what it checks: renamed away, the row is no longer true. */
const PROVED: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  "live views": { "live-views": /the password never is[^]*a revoked key is disconnected at once/ },
  "stored secrets sent elsewhere": {
    "workflow-moved-secrets": /must be sent again when a step with it is new or another/,
    "workflow-jobs": /sends its secret params nowhere else/,
    "job-keys": /go through no other proxy/,
  },
  SSRF: { address: /in all its IPv6 disguises/, guard: /in every way of writing it/ },
  "DNS rebinding, of targets": {
    guard: /answering DNS differently the second time/,
    "browser-proxy": /whose answer changes after it was checked/,
  },
  "DNS rebinding, of this server": { access: /cannot reach a server on loopback by a name of its own/ },
  redirects: {
    guard: /resolved or redirected to[^]*reaches the origin it was given for, and no other/,
    "credential-headers": /cookies of other paths and hosts are not sent/,
  },
  webhooks: {
    refusals: /webhook: "http:\/\/169\.254\.169\.254/,
    steps: /an address that the guard refuses is not asked/,
    senders: /private networks are refused/,
  },
  "egress through a proxy": {
    upstream: /with the address of the site, never its name[^]*when the site is forbidden/,
    "upstream-hostile": /a proxy that/,
  },
  "egress of browser pages": {
    "browser-proxy": /a target that the guard refuses[^]*sees no connection/,
    canary: /by a name that resolves there sends it nothing/,
  },
  "hostile pages": { "net/hostile": /a site that/, "extract/hostile": /is read to an end, in bounded time/ },
  "a page that attacks the browser": { crashes: /warns once that it runs without a sandbox/ },
  "user code": { handlers: /that misbehave fail alone/ },
  "expressions and templates": { "workflow-expression": /gives JSON or an ExpressionError, within its work/ },
  formulas: { csv: /no cell is a formula/, "audit-log": /a formula is defused/ },
  "scripts in scraped content": {
    "web/hostile": /is never more than text[^]*does nothing in the frame/,
    dashboard: /sandbox allow-scripts; default-src 'none'/,
  },
  headers: { escaping: /foreign text makes no mention, link or markup/ },
  "bypass of roles": {
    "api/roles": /answers each role, and expired, revoked and limited keys/,
    "mcp/roles": /every tool refuses an expired, a revoked and a limited key/,
    limits: /on any route that takes one/,
    keys: /sees, starts and changes its jobs alone/,
    access: /a caller with limits sees only what is within them/,
  },
  "use of a revoked key": {
    "held-answers": /its open stream there ends/,
    revocation: /its streams, WebSockets and calls of tools there end/,
  },
  "a header that names somebody else": { "forwarded-people": /test\(/, "config/single-sign-on": /test\(/ },
  "forged, old or foreign tokens": { "oidc-provider": /nonce/ },
  "another one's sign-in": { "api/single-sign-on": /state/ },
  "roles of groups": { "api/single-sign-on": /end/ },
  "sign-in pages that lead elsewhere": { "api/single-sign-on": /elsewhere|own path|redirect/i },
  "answers of others": { limits: /is its caller's own[^]*that its key may not see/ },
  guessing: {
    logins: /ten thousand times from one address[^]*compared without an early exit/,
    "forwarded-people": /waits for the answer to each further one/,
  },
  CSRF: { access: /a cookie changes something only from a page of this server/ },
  "malformed requests": { fuzz: /right and wrong requests/, frame: /"__proto__"/ },
  "changes without a trace": {
    "chaos/audit-log": /no change without its entry in the audit log, and no entry without its change/,
    access: /nothing else removes or changes them/,
  },
  secrets: {
    "workflows/secrets": /reach the steps, and nobody else[^]*server\.log/,
    sessions: /the log holds/,
    "store/secrets": /gone through once, and sealed/,
    "audit-log": /none of its secrets/,
    show: /secrets are masked/,
  },
};

test("every attack vector of docs/security.md names tests that exist", () => {
  const page = readFileSync(join(root, "docs/security.md"), "utf8");
  const section = page.split("## Attack vectors")[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| attack"));
  assert.ok(rows.length >= 15, `${rows.length} rows`);
  for (const row of rows) {
    const files = [...row.matchAll(/\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, path = ""]) => path);
    assert.ok(files.length > 0, `no test: ${row}`);
    for (const file of files) assert.ok(existsSync(join(root, file)), file);
    const [, proved] = Object.entries(PROVED).find(([attack]) => row.startsWith(`| ${attack}`)) ?? [];
    assert.ok(proved !== undefined, `nothing says what the tests of this row prove: ${row}`);
    assert.equal(Object.keys(proved).length, files.length, row);
    for (const [name, text] of Object.entries(proved)) {
      const file = files.find((path) => path.replace(/(?:\.test)?\.ts$/, "").endsWith(name));
      assert.ok(file !== undefined, `${name} is not linked: ${row}`);
      assert.match(readFileSync(join(root, file), "utf8"), text, file);
    }
  }
});
