import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { MIGRATIONS } from "../../src/store/sqlite/migrate.ts";
import { Target } from "../chaos/target.ts";
import { BUCKET, S3_KEY, S3Server } from "../support/s3-server.ts";
import { somePort } from "../support/services.ts";
import { Installation } from "./installation.ts";

interface Doctor {
  healthy: boolean;
  checks: { name: string; status: string; what: string; fix: string | null }[];
}

function checkOf(report: Doctor, name: string): Doctor["checks"][number] {
  const check = report.checks.find((one) => one.name === name);
  assert.ok(check !== undefined, `there is a check named ${name}`);
  return check;
}

describe("looking after an installation", { concurrency: 2 }, () => {
  test("orb config shows what is in force and where it came from, and hides secrets", async () => {
    await using orb = new Installation({ APP_API_TOKEN: "hunter2-hunter2-hunter2", APP_MAX_WROKERS: "5" });
    orb.file(".env", "APP_MAX_PER_HOST=4\nAPP_SECRET_KEY=hunter2-hunter2-hunter2\n");
    const { code, stdout, stderr } = await orb.run(["config"]);
    assert.equal(code, 0);
    assert.match(stdout, /APP_MAX_PER_HOST +4 +\.env/);
    assert.match(stdout, /APP_MAX_WORKERS +32 +default/);
    assert.match(stdout, /APP_API_TOKEN +\*+ +environment/);
    assert.match(stderr, /APP_MAX_WROKERS is not an option and is ignored; did you mean APP_MAX_WORKERS\?/);
    assert.ok(!`${stdout}${stderr}`.includes("hunter2"));
    const json = await orb.run(["config", "--json"]);
    assert.ok(!json.stdout.includes("hunter2"));
  });

  test("every bad value is named at once, with exit code 2", async () => {
    await using orb = new Installation({ APP_PORT: "eighty", APP_MAX_WORKERS: "0", APP_API_TOKEN: "short" });
    for (const args of [["config"], ["queue", "stats"], ["queue", "run"]]) {
      const { code, stderr } = await orb.run(args);
      assert.equal(code, 2, args.join(" "));
      for (const name of ["APP_PORT", "APP_MAX_WORKERS", "APP_API_TOKEN"]) assert.ok(stderr.includes(name), stderr);
      assert.ok(!stderr.includes("short"), "not even a bad secret is shown");
    }
  });

  test("orb migrate makes the database, and then has nothing to do", async () => {
    await using orb = new Installation();
    const first = await orb.run(["migrate"]);
    const newest = MIGRATIONS.length;
    const names = MIGRATIONS.map(({ name }) => name).join(", ");
    assert.match(names, /^core, jobs, crawls\b/);
    assert.deepEqual([first.code, first.stdout], [0, `schema version 0 → ${newest}: ${names}\n`]);
    const second = await orb.run(["migrate"]);
    assert.deepEqual([second.code, second.stdout], [0, `the database has schema version ${newest}: nothing to do\n`]);
    assert.deepEqual(await orb.json("migrate"), { from: newest, to: newest, applied: [] });
  });

  test("a database of a newer version is refused with a sentence [slow]", async () => {
    await using orb = new Installation();
    await orb.run(["migrate"]);
    const db = new DatabaseSync(orb.database);
    db.exec("PRAGMA user_version = 99");
    db.close();
    const { code, stderr } = await orb.run(["queue", "stats"]);
    assert.equal(code, 1);
    assert.match(stderr, /schema version 99, this program knows up to \d+/);
  });

  test("orb doctor on a healthy installation finds nothing [slow]", async () => {
    await using orb = new Installation({ APP_PORT: String(await somePort()) });
    const report = await orb.json<Doctor>("doctor");
    assert.equal(report.healthy, true);
    assert.deepEqual(
      report.checks.map((check) => check.name),
      [
        "runtime",
        "configuration",
        "data directory",
        "file access",
        "disk",
        "artifacts",
        "database",
        "engine",
        "browser",
        "secret key",
        "clock",
        "port",
      ],
    );
    assert.match(checkOf(report, "engine").what, /no worker is running/);
  });

  test("orb doctor looks at the bucket, and says what to do when it cannot be used [slow]", async () => {
    await using server = await S3Server.start();
    await using orb = new Installation({ ...server.env(), APP_PORT: String(await somePort()) });
    const report = await orb.json<Doctor>("doctor");
    assert.deepEqual(checkOf(report, "artifacts").status, "ok");
    assert.equal(checkOf(report, "artifacts").what, `s3://${BUCKET}/files`);
    assert.ok(!(await orb.run(["config"])).stdout.includes(S3_KEY.secretAccessKey));
    const cases = [
      [{ APP_S3_SECRET_ACCESS_KEY: "another-secret" }, /denies access/, /APP_S3_ACCESS_KEY_ID/],
      [{ APP_ARTIFACTS_URL: "s3://not-there" }, /no bucket named not-there/, /Create it/],
      [{ APP_S3_ENDPOINT: "http://127.0.0.1:9" }, /is unreachable/, /APP_S3_ENDPOINT/],
    ] as const;
    for (const [env, what, fix] of cases) {
      await using other = new Installation({ ...server.env(), ...env });
      const { code, stdout } = await other.run(["doctor", "--json"]);
      assert.equal(code, 1);
      const found = checkOf(JSON.parse(stdout) as Doctor, "artifacts");
      assert.equal(found.status, "problem");
      assert.match(found.what, what);
      assert.match(found.fix ?? "", fix);
      assert.ok(!stdout.includes("secret"), stdout);
    }
  });

  test("orb doctor names a bad configuration", async () => {
    await using orb = new Installation({ APP_PORT: "eighty" });
    const { code, stdout } = await orb.run(["doctor"]);
    assert.equal(code, 1);
    assert.match(stdout, /✗ configuration .*\n.*APP_PORT: expected/);
    assert.match(stdout, /→ correct the variables named here/);
  });

  test("orb doctor names a database that is none, and one of another program [slow]", async () => {
    await using orb = new Installation();
    mkdirSync(join(orb.dir, "data"));
    writeFileSync(orb.database, "this is a text file, and long enough not to be taken for an empty one".repeat(20));
    const text = await orb.run(["doctor", "--json"]);
    assert.equal(text.code, 1);
    const problem = (JSON.parse(text.stdout) as Doctor).checks.find((check) => check.name === "database");
    assert.equal(problem?.status, "problem");
    rmSync(orb.database);
    const db = new DatabaseSync(orb.database);
    db.exec("CREATE TABLE theirs (x)");
    db.close();
    const foreign = await orb.run(["doctor"]);
    assert.equal(foreign.code, 1);
    assert.match(foreign.stdout, /✗ database +the database file belongs to another program/);
  });

  test("orb doctor sees who is at work [slow]", async () => {
    await using orb = new Installation();
    const engine = orb.start(["queue", "run"]);
    await engine.said("working on the queue");
    assert.equal(checkOf(await orb.json<Doctor>("doctor"), "engine").what, `process ${engine.pid} is the worker`);
    engine.kill("SIGTERM");
    assert.equal((await engine.end()).code, 0);
  });

  test("orb doctor says which browser there is, or how to get one; where the key is; whether the handlers load [slow]", async () => {
    await using orb = new Installation({ APP_HANDLERS: "handlers.mjs", APP_BROWSER_PATH: "no-such-browser" });
    orb.file("handlers.mjs", "export const handlers = { fetch_paper: async () => ({}) };");
    const looked = await orb.run(["doctor", "--json"]);
    assert.equal(looked.code, 1, "what is named is not there");
    const first = JSON.parse(looked.stdout) as Doctor;
    const browser = checkOf(first, "browser");
    assert.equal(browser.status, "problem");
    assert.match(browser.what, /APP_BROWSER_PATH is .*no-such-browser/);
    assert.match(browser.fix ?? "", /run: orb doctor --fix$/);
    assert.match(checkOf(first, "handlers").what, /handlers\.mjs: fetch_paper$/);
    assert.match(checkOf(first, "secret key").what, /none yet/);
    await orb.json("sessions", "add", "--origin", "https://shop.test", "--cookie", "sid=4711");
    orb.file("handlers.mjs", "export const handlers = {");
    const second = await orb.run(["doctor", "--json"]);
    assert.equal(second.code, 1, "handlers that do not load are a problem");
    const report = JSON.parse(second.stdout) as Doctor;
    assert.equal(checkOf(report, "handlers").status, "problem");
    assert.match(checkOf(report, "secret key").what, /secret\.key; store a copy separately from your backups/);
    chmodSync(join(orb.dataDir, "secret.key"), 0o644);
    const third = JSON.parse((await orb.run(["doctor", "--json"])).stdout) as Doctor;
    assert.match(checkOf(third, "secret key").fix ?? "", /^chmod 600 /);
  });

  test("orb doctor does not take an engine from before a reboot for a living one [slow]", async () => {
    await using orb = new Installation();
    await orb.run(["migrate"]);
    const db = new DatabaseSync(orb.database);
    db.exec(
      `UPDATE engine SET holder = 'before', boot = 'another', pid = ${process.pid}, pid_start = '', address = '', lease_until = 1e15`,
    );
    db.close();
    assert.match(checkOf(await orb.json<Doctor>("doctor"), "engine").what, /no worker is running/);
  });

  test("orb audit finds a file that was changed behind its back, when it looks deep", async () => {
    await using target = await Target.start(1);
    await using orb = new Installation();
    await orb.import([{ artifact_id: "a", url: target.url("/a") }]);
    await orb.run(["queue", "run", "--drain"]);
    const clean = await orb.run(["audit", "--deep"]);
    assert.equal(clean.code, 0);
    assert.match(clean.stdout, /✓ every stored file exists with its original content\nclean\n$/);
    const [file] = (await orb.show("a")).files;
    writeFileSync(file?.path ?? "", "x".repeat(file?.size ?? 0));
    assert.equal((await orb.run(["audit"])).code, 0, "the size is the same");
    const torn = await orb.run(["audit", "--deep"]);
    assert.equal(torn.code, 1);
    assert.match(
      torn.stdout,
      /✗ every stored file .*\n +file [0-9a-f]{64} of task .* is missing or damaged\n1 finding\n/,
    );
    rmSync(file?.path ?? "");
    assert.equal((await orb.run(["audit"])).code, 1);
  });
});
