import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openTestApi } from "./kit.ts";

/** The threads on which Node reads files. */
const FILE_THREADS = 4;
/** The framework gives a plugin ten seconds unless told otherwise. */
const LONGER_THAN_A_PLUGIN_MAY_TAKE_MS = 10_500;

test("a server whose disk does not answer for ten seconds starts all the same [slow]", async (t) => {
  await openTestApi(t); // loads all modules, so that the second start reads only what the plugins read
  const folder = mkdtempSync(join(tmpdir(), "orb-start-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // Whoever opens a named pipe waits for its other side: so every thread that reads files is occupied.
  const pipes = Array.from({ length: FILE_THREADS }, (_, at) => join(folder, `pipe-${at}`));
  execFileSync("mkfifo", pipes);
  const waiting = pipes.map((pipe) => open(pipe, "r"));
  const started = openTestApi(t);
  await sleep(LONGER_THAN_A_PLUGIN_MAY_TAKE_MS);
  execFileSync("sh", ["-c", pipes.map((pipe) => `: > '${pipe}'`).join("; ")]);
  for (const file of await Promise.all(waiting)) await file.close();
  assert.equal((await (await started).get("/health")).status, 200);
});
