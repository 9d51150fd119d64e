/** A program beside a clone, which it has linked into its node_modules. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeTypes } from "../../scripts/types.mjs";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";
import { checkTypes, PROGRAM } from "./check-types.ts";

test("a strict program type-checks against a clone that was built and linked", async () => {
  await makeTypes();
  using temp = tempDir();
  mkdirSync(join(temp.path, "node_modules"));
  symlinkSync(root, join(temp.path, "node_modules", "orbweaver"));
  writeFileSync(join(temp.path, "package.json"), '{ "name": "user", "private": true, "type": "module" }\n');
  writeFileSync(join(temp.path, "types.ts"), PROGRAM);
  checkTypes(temp.path, ["types.ts"]);
});
