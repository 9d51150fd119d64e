import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLog } from "../../src/cli/command-log.ts";
import { remedyOf } from "../../src/cli/print/failure-report.ts";
import type { Terminal } from "../../src/cli/print/output.ts";
import { FAILURE_REASONS, type FailureReason } from "../../src/domain/run/failure.ts";

test("a page that failed in a browser is never advised to be opened in a browser", () => {
  for (const reason of Object.keys(FAILURE_REASONS) as FailureReason[]) {
    const failed = { failure_code: FAILURE_REASONS[reason], failure_reason: reason, resolved_strategy: "browser" };
    assert.doesNotMatch(remedyOf(failed) ?? "", /--strategy browser/, reason);
  }
  const refused = { failure_code: "blocked", failure_reason: "http_forbidden" } as const;
  assert.match(remedyOf({ ...refused, resolved_strategy: "http" }) ?? "", /--strategy browser/);
  assert.match(remedyOf({ ...refused, resolved_strategy: "browser" }) ?? "", /refuses this client.*APP_USER_AGENT/);
});

test("a document that cannot be read has a remedy of its own", () => {
  const ofDocuments = (Object.keys(FAILURE_REASONS) as FailureReason[]).filter(
    (reason) => reason.startsWith("document_") || reason === "needs_ocr",
  );
  assert.equal(ofDocuments.length, 6);
  for (const reason of ofDocuments)
    assert.doesNotMatch(
      remedyOf({ failure_code: FAILURE_REASONS[reason], failure_reason: reason }) ?? "open the URL",
      /open the URL/,
      reason,
    );
});

test("what a command has to warn of is a plain line among its words, and is said once", () => {
  let said = "";
  const terminal: Terminal = { out: () => {}, err: (text) => (said += text), live: false, colour: false };
  const log = commandLog(terminal, "info");
  log.info("working");
  log.warn("no sandbox\u001b[2J", { why: "root" });
  log.with({ why: "root" }).warn("no sandbox\u001b[2J");
  log.error("a call failed");
  assert.equal(said, "warning: no sandbox[2J why=root\nerror: a call failed\n");
});
