import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "../../src/api-client/client.ts";
import { isOrbweaverError } from "../../src/api-client/error.ts";
import { openLocalApi } from "../../src/app/local-api.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";

test("commands call an API whose routes are built with their first call", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orb-on-demand-"));
  try {
    const { config } = loadConfig({ env: { APP_DATA_DIR: folder }, cwd: folder });
    await using local = await openLocalApi(config, silentLog, "0.0.0");
    const api = createClient({ url: "http://localhost", fetch: local.fetch, retries: 0 });
    // A name among the others of its path, and the paths that also fit it.
    const { rows } = await api.runs.list({}).page();
    assert.deepEqual(rows, []);
    const { id } = await api.jobs.create({ name: "Tea", target_url: "https://tea.example/" });
    assert.equal((await api.jobs.get(id)).name, "Tea");
    const run = await api.crawls.start({ url: "https://tea.example/" });
    assert.equal((await api.crawls.status(run.task_id)).total_items, 1);
    assert.equal((await api.crawls.status(run.task_id.slice(0, 8))).task_id, run.task_id, "a short id");
    await assert.rejects(api.crawls.start({ url: "tea" }), (error) => isOrbweaverError(error, "input_invalid"));
    const unknown = await local.fetch("http://localhost/nowhere", {
      method: "GET",
      headers: {},
      signal: new AbortController().signal,
    });
    assert.equal(unknown.status, 404);
    const slash = await local.fetch("http://localhost/jobs/?limit=1", {
      method: "GET",
      headers: {},
      signal: new AbortController().signal,
    });
    assert.equal(slash.status, 200);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
