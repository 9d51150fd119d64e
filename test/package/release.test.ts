import assert from "node:assert/strict";
import { test } from "node:test";
import { obstacles } from "../../scripts/release.mjs";
import { read } from "../support/source.ts";

const version = (path: string) => (JSON.parse(read(path)) as { version: string }).version;

test("the version of the package is the newest one of the changelog", () => {
  const [, newest] = /^## (\S+)/m.exec(read("CHANGELOG.md")) ?? [];
  assert.deepEqual([version("package.json"), version("package-lock.json")], [newest, newest]);
});

test("what is not ready is not published", () => {
  const ready = {
    changelog: "# Changelog\n\n## 1.2.3 (2027-01-02)\n",
    version: "1.2.3",
    lockVersion: "1.2.3",
    changes: "",
  };
  assert.deepEqual(obstacles(ready), []);
  assert.match(obstacles({ ...ready, version: "1.2.2", lockVersion: "1.2.2" }).join(), /1\.2\.2.*1\.2\.3/);
  assert.match(obstacles({ ...ready, lockVersion: "1.2.2" }).join(), /npm install/);
  assert.match(obstacles({ ...ready, changelog: "## 1.2.3 (unreleased)\n" }).join(), /needs its date/);
  assert.match(obstacles({ ...ready, changes: " M src/main.ts" }).join(), /not committed:\n M src\/main\.ts/);
});
