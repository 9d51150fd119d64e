import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { type ErrorCode, isOrbError, type OrbError } from "../../src/base/errors.ts";
import { isForeignFile, SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate, MIGRATIONS, schemaVersion } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { Kit, refused } from "../contract/store/kit.ts";
import { handClock, sqliteHarness, tempFolder } from "./bench.ts";

const { clock } = handClock();

function refusal(code: ErrorCode, path: string): OrbError {
  try {
    openSqliteStore({ path, clock });
  } catch (error) {
    assert.ok(isOrbError(error, code), `${code} expected, got ${String(error)}`);
    return error;
  }
  return assert.fail(`${code} expected, but the file was opened`);
}

describe("SQLite: what it opens", () => {
  test("a new file, in folders that do not exist yet", async () => {
    await using folder = await tempFolder();
    const store = openSqliteStore({ path: join(folder.path, "a", "b", "orb.db"), clock });
    assert.match(store.instance, /^[0-9a-f-]{36}$/);
    await store.close();
  });

  test("an empty file, and its own file again", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    await writeFile(path, "");
    const first = openSqliteStore({ path, clock });
    await first.close();
    const second = openSqliteStore({ path, clock });
    assert.equal(second.instance, first.instance);
    await second.close();
  });

  test("not a newer program's database: the sentence names both versions, and the file stays as it is", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    const connection = new SqliteConnection(path);
    const latest = MIGRATIONS.at(-1)?.version ?? 0;
    migrate(connection, [...MIGRATIONS, { version: latest + 7, name: "future", up: () => {} }]);
    connection.close();
    const error = refusal("database_newer", path);
    assert.match(error.message, new RegExp(`schema version ${latest + 7}, this program knows up to ${latest}`));
    assert.ok(error.hint !== undefined);
    const again = new SqliteConnection(path);
    assert.equal(schemaVersion(again), latest + 7);
    again.close();
  });

  test("not another program's database, of which not a byte changes", async () => {
    await using folder = await tempFolder();
    for (const [name, marks] of Object.entries({ unmarked: "", marked: "PRAGMA application_id = 12345;" })) {
      const path = join(folder.path, `${name}.db`);
      const other = new DatabaseSync(path);
      other.exec(`${marks} CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('https://a.example/')`);
      other.close();
      const before = await readFile(path);
      const error = refusal("database_foreign", path);
      assert.match(error.message, /another program/);
      assert.deepEqual(await readFile(path), before);
    }
  });

  test("not a text file, of which not a byte changes", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "notes.txt");
    await writeFile(path, "These are my notes. They are longer than a header of a database would be.\n".repeat(50));
    const before = await readFile(path);
    assert.match(refusal("database_foreign", path).message, /not an SQLite database/);
    assert.deepEqual(await readFile(path), before);
  });

  test("not a folder", async () => {
    await using folder = await tempFolder();
    refusal("database_unavailable", folder.path);
  });
});

describe("SQLite: a damaged file", () => {
  test("is found by the audit, and reads say that the database cannot be used", async () => {
    const harness = await sqliteHarness();
    try {
      const store = await harness.open();
      const kit = new Kit(store, harness);
      const keys = Array.from({ length: 2000 }, (_, index) => `k${index}`);
      const run = await kit.runWith(keys);
      await store.close();

      const raw = new DatabaseSync(harness.path);
      raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      const root = Number(raw.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tasks'").get()?.["rootpage"]);
      const size = Number(raw.prepare("PRAGMA page_size").get()?.["page_size"]);
      raw.close();
      const bytes = await readFile(harness.path);
      bytes.fill(0xa5, (root - 1) * size, root * size);
      await writeFile(harness.path, bytes);

      const damaged = await harness.open();
      await refused("database_unavailable", damaged.tasks(run.id, { limit: 10 }));
      await refused("database_unavailable", kit.enqueue(run, ["new"], damaged));
      const { findings } = await damaged.audit();
      assert.ok(findings.some((finding) => finding.check === "the database file is intact"));
    } finally {
      await harness.close();
    }
  });
});

/** Locks of this process on a file, as the kernel counts them. */
function locksOn(path: string): number {
  const inode = `:${statSync(path).ino}`;
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , , pid, file]) => pid === String(process.pid) && file?.endsWith(inode) === true).length;
}

const isLinux = process.platform === "linux";
const hasTool = spawnSync("sqlite3", ["--version"]).status === 0;

test("a look at the header of an open database leaves its lock: a backup by another program does not remove its log", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "orb.db");
  const connection = new SqliteConnection(path);
  try {
    connection.db.exec("PRAGMA application_id = 0x4f726277; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    const before = isLinux ? locksOn(path) : 0;
    const isForeign = isForeignFile(path);
    if (isLinux) assert.deepEqual([before, locksOn(path)], [1, 1], "locks before and after");
    if (hasTool) {
      execFileSync("sqlite3", [path, `VACUUM INTO '${path}.copy'`]);
      assert.ok(existsSync(`${path}-wal`), "what was written last is still there");
      connection.db.exec("INSERT INTO t VALUES (2)");
      assert.equal(execFileSync("sqlite3", [path, "SELECT count(*) FROM t"], { encoding: "utf8" }).trim(), "2");
    }
    assert.equal(isForeign, false, "also while the mark stands in the log alone");
  } finally {
    connection.close();
  }
  assert.equal(isForeignFile(path), false);
  await writeFile(path, "x".repeat(200));
  assert.equal(isForeignFile(path), true);
});
