import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../support/source.ts";

test("every attack vector of docs/security.md names tests that exist", () => {
  const page = readFileSync(join(root, "docs/security.md"), "utf8");
  const section = page.split("## Attack vectors")[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| attack"));
  assert.ok(rows.length >= 15, `${rows.length} rows`);
  for (const row of rows) {
    const files = [...row.matchAll(/\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, path = ""]) => path);
    assert.ok(files.length > 0, `no test: ${row}`);
    for (const file of files) assert.ok(existsSync(join(root, file)), file);
  }
});
