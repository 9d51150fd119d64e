import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { test } from "node:test";
import { createArtifactStore } from "../src/artifacts/store.ts";
import { systemClock } from "../src/base/clock.ts";
import { createLog } from "../src/base/log.ts";
import { systemRandom } from "../src/base/random.ts";
import { filesApart, watchFiles } from "../src/app/shared-means.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { preparedInMemory } from "./support/prepared-database.ts";
import { tempDir } from "./support/temp-dir.ts";

test("processes that keep their files in different places are told, until files are where others have theirs", async () => {
  using dir = tempDir();
  await using store = openSqliteStore({ path: ":memory:", clock: systemClock, connection: preparedInMemory() });
  const cluster = { databaseUrl: "", redisUrl: "" };
  const start = async (folder: string) => {
    const artifacts = createArtifactStore({ dir: `${dir.path}/${folder}`, clock: systemClock });
    const said: string[] = [];
    const log = createLog({ level: "info", pretty: false, write: (line) => said.push(line) });
    const client = { store, artifacts, random: systemRandom, cluster };
    await watchFiles(client, log);
    return { said: said.join(""), apart: await filesApart(client) };
  };
  assert.deepEqual(await start("shared"), { said: "", apart: null });
  assert.deepEqual(await start("shared"), { said: "", apart: null });
  const { said, apart } = await start("own");
  assert.match(said, /"warn".*stores files in .*\/own.*APP_ARTIFACTS_URL/);
  assert.match(`${apart?.what}; ${apart?.fix}`, /stores files in .*\/own.*set APP_ARTIFACTS_URL/);
  cpSync(`${dir.path}/shared/sha256`, `${dir.path}/own/sha256`, { recursive: true });
  assert.deepEqual(await start("own"), { said: "", apart: null });
});
