import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { read, root } from "../support/source.ts";

/** The rows of the first table whose head begins so: the first two cells of each. */
function rowsOf(text: string, head: string): string[][] {
  const lines = text.slice(text.indexOf(head)).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(0, end < 0 ? undefined : end).map((line) =>
    line
      .split("|")
      .slice(1, 3)
      .map((cell) => cell.trim().replace(/-+:?/, "-")),
  );
}

test("docs/decisions/0016-one-writer.md shows what the simulation of ten workers gives [slow]", () => {
  const told = rowsOf(read("docs/decisions/0016-one-writer.md"), "| workers    ");
  const command = ["test/simulation/main.ts", "--workers", "10"];
  const output = execFileSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  assert.ok(told.length > 20);
  assert.deepEqual(rowsOf(output, "| workers "), told);
});
