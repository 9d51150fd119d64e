import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import {
  classifyStatus,
  countsForBreaker,
  type Disposition,
  dispositionOf,
  holdsSite,
  isProxyFault,
  retryMayHelp,
} from "../../src/domain/run/classify.ts";
import { FAILURE_REASONS, failure, type FailureCode, type FailureReason } from "../../src/domain/run/failure.ts";

const REASONS = Object.keys(FAILURE_REASONS) as FailureReason[];

/** status, Retry-After in ms or null → code, reason, what to do, breaker counts it, site is held */
const STATUSES: [number, number | null, FailureCode, FailureReason, Disposition, boolean, boolean][] = [
  [401, null, "blocked", "http_unauthorized", "retry", true, false],
  [403, null, "blocked", "http_forbidden", "retry", true, false],
  [429, null, "rate_limited", "http_too_many_requests", "rate_limit", true, true],
  [429, 5000, "rate_limited", "http_too_many_requests", "rate_limit", true, true],
  [503, 0, "rate_limited", "http_unavailable", "rate_limit", true, true],
  [503, 5000, "rate_limited", "http_unavailable", "rate_limit", true, true],
  [503, null, "bad_response", "http_server_error", "retry", true, true],
  [500, null, "bad_response", "http_server_error", "retry", true, false],
  [502, 5000, "bad_response", "http_server_error", "retry", true, false],
  [501, null, "bad_response", "http_server_error", "permanent", true, false],
  [404, null, "bad_response", "http_not_found", "permanent", false, false],
  [410, null, "bad_response", "http_not_found", "permanent", false, false],
  [400, null, "bad_response", "http_client_error", "permanent", false, false],
  [408, null, "bad_response", "http_client_error", "retry", false, false],
  [425, null, "bad_response", "http_client_error", "retry", false, false],
  [451, null, "bad_response", "http_client_error", "permanent", false, false],
  [304, null, "bad_response", "http_unexpected", "permanent", false, false],
  [600, null, "bad_response", "http_unexpected", "permanent", false, false],
];

test("a success is no failure", () => {
  for (const status of [200, 201, 204, 206, 299]) assert.equal(classifyStatus(status, null), null);
});

for (const [status, retryAfter, code, reason, disposition, breaker, holds] of STATUSES) {
  test(`${status}${retryAfter === null ? "" : ` with Retry-After ${retryAfter} ms`} is ${reason}`, () => {
    const what = classifyStatus(status, retryAfter);
    assert.ok(what !== null);
    assert.deepEqual([what.code, what.reason, what.httpStatus], [code, reason, status]);
    assert.equal(what.retryAfterMs, retryAfter ?? undefined);
    assert.match(what.message, new RegExp(String(status)));
    assert.deepEqual([dispositionOf(what), countsForBreaker(what), holdsSite(what)], [disposition, breaker, holds]);
  });
}

test("every status has one meaning, and its code is that of its reason", () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 999 }), fc.option(fc.nat()), (status, retryAfter) => {
      const what = classifyStatus(status, retryAfter);
      assert.equal(what === null, status >= 200 && status < 300);
      if (what === null) return;
      assert.equal(what.code, FAILURE_REASONS[what.reason]);
      if (status >= 400 && status < 500 && status !== 429) assert.equal(holdsSite(what), false);
    }),
  );
});

test("timeouts, broken connections and blocks count for the breaker, what our own side did does not", () => {
  const counted = REASONS.filter((reason) => countsForBreaker(failure(reason, "")));
  for (const reason of counted) {
    assert.ok(
      ["timeout", "network", "blocked", "rate_limited", "bad_response"].includes(FAILURE_REASONS[reason]),
      reason,
    );
    assert.doesNotMatch(reason, /^(handler|run|request|private|scheme|url|proxy)_/);
  }
  for (const reason of ["timeout_idle", "dns_failed", "http_server_error"] as const)
    assert.ok(counted.includes(reason));
});

test("robots.txt that could not be read counts for the breaker as its cause does", () => {
  const counts = (because?: FailureReason) =>
    countsForBreaker(failure("robots_unreachable", "", because === undefined ? {} : { because }));
  assert.deepEqual(
    [counts("http_server_error"), counts("http_too_many_requests"), counts("too_many_redirects"), counts()],
    [true, true, false, false],
  );
});

test("what a guard or a limit refused is final; a broken transfer is not", () => {
  for (const reason of [
    "private_address",
    "scheme_not_allowed",
    "body_too_large",
    "too_many_redirects",
    "not_html",
  ] as const) {
    assert.equal(dispositionOf(failure(reason, "")), "permanent", reason);
  }
  for (const reason of ["connection_reset", "truncated_body", "timeout_total", "handler_threw", "internal"] as const) {
    assert.equal(dispositionOf(failure(reason, "")), "retry", reason);
  }
});

test("a proxy that cannot be used is at fault for sure; one that made no connection is not, the site may be", () => {
  assert.deepEqual(REASONS.filter((reason) => isProxyFault(failure(reason, ""))).toSorted(), [
    "proxy_auth",
    "proxy_forbidden",
    "proxy_unreachable",
  ]);
});

test("a scan may be read once OCR is set up, and a slow document on a quieter machine; a damaged one stays so", () => {
  assert.deepEqual(
    (["needs_ocr", "document_timeout", "document_damaged", "document_encrypted"] as const).map(retryMayHelp),
    [true, true, false, false],
  );
});
