import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { ERROR_CATALOGUE } from "../src/base/errors.ts";
import { CONFIG_KEYS, OPTIONS } from "../src/config/options.ts";
import { read, root, tableBelow } from "./support/source.ts";

const codesIn = (rows: string[][]) => rows.map((cells) => (cells[0] ?? "").replaceAll("`", "")).sort();

// `npm run check` looks at this, too.
test("the generated pages are up to date [slow]", () => {
  execFileSync(process.execPath, ["scripts/docs.mjs", "--check"], { cwd: root, stdio: "pipe" });
});

test("docs/errors.md describes every error code and no other", () => {
  assert.deepEqual(codesIn(tableBelow(read("docs/errors.md"), "# Errors")), Object.keys(ERROR_CATALOGUE).sort());
});

test("docs/configuration.md describes every option and no other", () => {
  const names = CONFIG_KEYS.map((key) => OPTIONS[key].name);
  assert.deepEqual(codesIn(tableBelow(read("docs/configuration.md"), "# Configuration")), names.sort());
});

test("docs/dependencies.md gives a reason for every package and no other", () => {
  const page = read("docs/dependencies.md");
  const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string> | undefined>;
  assert.deepEqual(codesIn(tableBelow(page, "## At run time")), Object.keys(manifest["dependencies"] ?? {}).sort());
  assert.deepEqual(
    codesIn(tableBelow(page, "## For development")),
    Object.keys(manifest["devDependencies"] ?? {}).sort(),
  );
});

test("the default user agent names this version", () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  const agent = OPTIONS.userAgent.default ?? "";
  assert.ok(agent.startsWith(`Orbweaver/${version.split(".").slice(0, 2).join(".")} (+https://`), agent);
});
