import assert from "node:assert/strict";
import { validateHeaderValue } from "node:http";
import { test } from "node:test";
import { attachment } from "../../src/api/attachment.ts";
import { HOSTILE } from "../exporters/records.ts";

test("a name in ASCII stands as it is", () => {
  assert.equal(attachment("books 2026.csv"), 'attachment; filename="books 2026.csv"');
});

test("a name beyond ASCII stands for old clients, and in full for others", () => {
  assert.equal(
    attachment("Überblick 狼 (1)'s.csv"),
    `attachment; filename="Uberblick _ (1)'s.csv"; filename*=UTF-8''%C3%9Cberblick%20%E7%8B%BC%20%281%29%27s.csv`,
  );
  assert.equal(attachment("50%20.csv"), `attachment; filename="50_20.csv"; filename*=UTF-8''50%2520.csv`);
});

test("no name leaves its place, or the header", () => {
  const hostile = [
    'a"; filename="b.exe',
    "a\r\nSet-Cookie: x=1",
    "../../etc/passwd",
    "..",
    "wide＂; x＝＂／＼.csv",
    "C:\\x",
    "\ud800",
    "\u202Egnp.exe",
  ];
  for (const name of [...HOSTILE, ...hostile]) {
    const header = attachment(name);
    validateHeaderValue("content-disposition", header);
    assert.match(header, /^attachment; filename="[^"\\/%]+"(?:; filename\*=UTF-8''[\w.%!#$&+^`|~-]+)?$/);
    assert.ok(header.length < 2500, `${header.length}`);
    assert.ok(!/filename="\./.test(header), header);
  }
});

test("a long name keeps its ending", () => {
  assert.match(attachment(`${"x".repeat(1000)}.parquet`), /^attachment; filename="x{142}\.parquet"$/);
});
