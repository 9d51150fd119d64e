/** Who else on the machine may read what is stored. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openClient } from "../../src/app/context.ts";
import { loadConfig } from "../../src/config/load.ts";
import { closeArtifacts, closeToOthers, openToOthers } from "../../src/app/file-access.ts";
import { shareWithGroup } from "../../src/base/files/file-modes.ts";
import { tempDir } from "../support/temp-dir.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

function modesIn(folder: string): [folders: Set<number>, files: Set<number>] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const of = (isWanted: (entry: (typeof entries)[number]) => boolean) =>
    new Set(entries.filter(isWanted).map((entry) => modeOf(join(entry.parentPath, entry.name))));
  return [of((entry) => entry.isDirectory()), of((entry) => entry.isFile())];
}

async function store(env: Record<string, string>, cwd: string) {
  const { config } = loadConfig({ env, cwd });
  const lines: string[] = [];
  const say = (message: string) => void lines.push(message);
  closeToOthers(config, { info: say, warn: say });
  await using client = await openClient(config);
  const writer = client.artifacts.writer();
  await writer.write(Buffer.alloc(100_000, 1));
  await writer.finish();
  const small = client.artifacts.writer();
  await small.write(Buffer.from("small"));
  await small.finish();
  client.seal.mark("makes the key");
  return { config, lines };
}

describe("what is stored", { skip: process.platform === "win32" }, () => {
  test("is for its owner alone: the data directory, the database, artifacts and the key", async (t) => {
    using folder = tempDir();
    const before = process.umask(0o022);
    t.after(() => process.umask(before));
    const { config, lines } = await store({}, folder.path);
    assert.equal(modeOf(config.dataDir), 0o700);
    assert.deepEqual(modesIn(config.dataDir), [new Set([0o700]), new Set([0o600])]);
    assert.deepEqual(lines, [], "nothing had to be mended");
    assert.deepEqual(openToOthers(config), []);
  });

  test("may be shared with a group, by number", async (t) => {
    using folder = tempDir();
    const before = process.umask(0o022);
    t.after(() => process.umask(before));
    t.after(() => shareWithGroup(false));
    const group = process.getgid?.() ?? 0;
    const { config } = await store({ APP_FILE_GROUP: String(group) }, folder.path);
    assert.equal(modeOf(config.dataDir), 0o750);
    const [folders, files] = modesIn(config.dataDir);
    assert.deepEqual([...folders], [0o750]);
    // The key is for its owner alone, whoever else may read.
    assert.deepEqual([...files].toSorted(), [0o600, 0o640]);
    assert.deepEqual(openToOthers(config), []);
    assert.throws(() => closeToOthers({ ...config, fileGroup: "no-such-group" }, { info() {}, warn() {} }), {
      code: "config_invalid",
    });
  });

  test("is closed when an earlier version has left it open, with one line", async () => {
    using folder = tempDir();
    const { config } = await store({}, folder.path);
    assert.ok(config.artifacts.kind === "local" && config.database.kind === "sqlite");
    const old = join(config.artifacts.path, "sha256", "ab");
    mkdirSync(old, { recursive: true });
    writeFileSync(join(old, "old"), "x");
    for (const path of [config.dataDir, config.artifacts.path, old]) chmodSync(path, 0o755);
    for (const path of [config.database.path, join(old, "old")]) chmodSync(path, 0o644);
    assert.equal(openToOthers(config).length, 3);
    const lines: string[] = [];
    const log = { info: (line: string) => void lines.push(line), warn: (line: string) => assert.fail(line) };
    closeToOthers(config, log);
    assert.equal(lines.length, 1);
    assert.deepEqual([modeOf(config.dataDir), modeOf(config.database.path)], [0o700, 0o600]);
    await closeArtifacts(config, log, new AbortController().signal);
    assert.deepEqual([modeOf(config.artifacts.path), modeOf(old), modeOf(join(old, "old"))], [0o700, 0o700, 0o600]);
    assert.deepEqual(openToOthers(config), []);
    closeToOthers(config, log);
    await closeArtifacts(config, log, new AbortController().signal);
    assert.equal(lines.length, 2, "once it is closed there is nothing to say");
  });
});
