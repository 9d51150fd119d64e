import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { Installation } from "../cli/installation.ts";
import { type Ended, Orb, until } from "./orb.ts";
import { Target } from "./target.ts";

const GOOD = { artifact_id: "a", url: "http://127.0.0.1:9/a" };

/** One sentence about the error: no stack trace, nothing on standard output. */
function expectRefused(ended: Ended, code: number, message: RegExp): void {
  assert.equal(ended.code, code, ended.stderr);
  assert.match(ended.stderr, message);
  assert.doesNotMatch(ended.stderr, /^ {4}at /m, "no stack trace for a mistake of the user");
  assert.equal(ended.stdout, "");
}

function errorOf(ended: Ended): { code: string; message: string; hint: string | null; fields: { path: string }[] } {
  const { error } = JSON.parse(ended.stdout) as { error: ReturnType<typeof errorOf> };
  return error;
}

describe("a user's mistake is answered with a sentence and the right exit code:", { concurrency: 3 }, () => {
  let orb: Installation;
  before(() => {
    orb = new Installation();
  });
  after(() => orb[Symbol.asyncDispose]());

  test("a file that is not there", async () => {
    expectRefused(
      await orb.run(["queue", "import", "nowhere.jsonl"]),
      2,
      /^error: cannot read nowhere\.jsonl: there is no such file$/m,
    );
  });

  test("a folder instead of a file", async () => {
    mkdirSync(join(orb.dir, "folder"));
    expectRefused(await orb.run(["queue", "import", "folder"]), 2, /^error: cannot read folder: it is a folder$/m);
  });

  test(
    "a file that may not be read",
    // A file that does not exist, even for root.
    { skip: process.getuid?.() === 0 ? "root may read everything" : false },
    async () => {
      chmodSync(orb.file("secret.jsonl", JSON.stringify(GOOD)), 0o000);
      expectRefused(await orb.run(["queue", "import", "secret.jsonl"]), 2, /permission denied/);
    },
  );

  test("a file with nothing but bad lines", async () => {
    orb.file("bad.jsonl", "nonsense\n{}\n");
    const { code, stderr, stdout } = await orb.run(["queue", "import", "bad.jsonl"]);
    assert.equal(code, 1);
    assert.match(stderr, /^line 1: /m);
    assert.match(stderr, /^line 2: .*artifact_id: is required.*url: is required/m);
    assert.match(stdout, /^2 lines: 0 added, 0 already there, 2 invalid$/m);
  });

  test("an empty file is fine", async () => {
    orb.file("empty.jsonl", "");
    const { code, stdout } = await orb.run(["queue", "import", "empty.jsonl"]);
    assert.deepEqual([code, stdout], [0, "0 lines: 0 added, 0 already there, 0 invalid\n"]);
  });

  test("an item that is none", async () => {
    expectRefused(
      await orb.run(["queue", "enqueue", "a", "ftp://example.com/"]),
      2,
      /url: expected an http or https URL, got ftp:/,
    );
    expectRefused(
      await orb.run(["queue", "enqueue", "a", GOOD.url, "--priority", "high"]),
      2,
      /priority: expected a whole number/,
    );
    expectRefused(await orb.run(["queue", "enqueue", "a", GOOD.url, "--payload", "{"]), 2, /--payload is not JSON/);
    const told = await orb.run(["queue", "enqueue", "", "nonsense", "--json"]);
    assert.equal(told.code, 2);
    const error = errorOf(told);
    assert.equal(error.code, "input_invalid");
    assert.deepEqual(
      error.fields.map(({ path }) => path),
      ["artifact_id", "url"],
    );
    assert.equal(told.stderr, "");
  });

  test("an item that is not there", async () => {
    expectRefused(
      await orb.run(["queue", "show", "nothing"]),
      1,
      /^error: the queue has no item named nothing\norb queue list shows/m,
    );
    assert.equal(errorOf(await orb.run(["queue", "show", "nothing", "--json"])).code, "not_found");
  });

  test("a bad value in the environment, by the variable's name", async () => {
    const bad = { APP_MAX_PER_HOST: "many", APP_LEASE_TTL_SECONDS: "1" };
    const refused = await orb.run(["queue", "stats"], { env: bad });
    expectRefused(refused, 2, /APP_MAX_PER_HOST/);
    assert.match(refused.stderr, /APP_LEASE_TTL_SECONDS/, "all of them at once");
    const told = await orb.run(["queue", "run", "--json"], { env: bad });
    assert.equal(told.code, 2);
    assert.equal(errorOf(told).code, "config_invalid");
    assert.deepEqual(
      errorOf(told)
        .fields.map(({ path }) => path)
        .sort(),
      ["APP_LEASE_TTL_SECONDS", "APP_MAX_PER_HOST"],
    );
  });

  test("a word that is no command or option, with the one that was meant", async () => {
    // A process says so by its exit code.
    expectRefused(await orb.start(["queeu"]).end(), 2, /unknown command 'queeu'[\s\S]*Did you mean queue\?/);
    expectRefused(await orb.run(["queue", "stat"]), 2, /unknown command 'stat'[\s\S]*Did you mean stats\?/);
    expectRefused(
      await orb.run(["queue", "run", "--drian"]),
      2,
      /unknown option '--drian'[\s\S]*Did you mean --drain\?/,
    );
    expectRefused(await orb.run(["queue", "import"]), 2, /missing required argument 'file'/);
    expectRefused(await orb.run(["queue", "run", "--workers", "0"]), 2, /--workers.*whole number above 0/);
    expectRefused(await orb.run(["queue", "list", "--status", "odd"]), 2, /--status.*queued, in_progress/);
    expectRefused(await orb.run(["queue"]), 2, /Usage: orb queue/);
  });

  test("a word that is no command or option, as JSON", async () => {
    const told = await orb.run(["queue", "run", "--drian", "--json"]);
    assert.equal(told.code, 2);
    const error = errorOf(told);
    assert.equal(error.code, "usage");
    assert.match(error.message, /unknown option '--drian'/);
    assert.equal(told.stderr, "");
    assert.equal(errorOf(await orb.run(["queeu", "--json"])).code, "usage");
    assert.equal(errorOf(await orb.run(["queue", "--json"])).code, "usage");
  });

  test("a database of another program, which stays as it is", async () => {
    const path = orb.file("theirs.db", "");
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    db.close();
    const bytes = readFileSync(path);
    const env = { APP_DATABASE_URL: `sqlite:${path}` };
    for (const args of [
      ["queue", "stats"],
      ["queue", "run", "--drain"],
      ["queue", "enqueue", "a", GOOD.url],
      ["audit"],
      ["migrate"],
    ]) {
      expectRefused(
        await orb.run(args, { env }),
        1,
        /^error: the database file belongs to another program\nPoint APP_DATABASE_URL/,
      );
    }
    const told = await orb.run(["queue", "stats", "--json"], { env });
    assert.deepEqual([told.code, errorOf(told).code], [1, "database_foreign"]);
    assert.deepEqual(readFileSync(path), bytes);
  });

  test("a file that is no database at all", async () => {
    const path = orb.file("letter.db", "Dear reader, this is a letter and no database. ".repeat(100));
    const { code, stderr } = await orb.run(["queue", "stats"], { env: { APP_DATABASE_URL: `sqlite:${path}` } });
    assert.equal(code, 1);
    assert.match(stderr, /^error: .*not an/);
    assert.doesNotMatch(stderr, /^ {4}at /m);
  });

  test("a data directory that cannot be made", async () => {
    const file = orb.file("taken", "x");
    const env = { APP_DATA_DIR: join(file, "data"), APP_DATABASE_URL: `sqlite:${join(file, "data", "orb.db")}` };
    const { code, stderr } = await orb.run(["queue", "stats"], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^error: /);
    assert.doesNotMatch(stderr, /^ {4}at /m, stderr);
  });
});

describe("nobody reads the output any more:", () => {
  test("a command ends in peace", async () => {
    await using orb = new Orb();
    await orb.import(Array.from({ length: 3000 }, (_, index) => ({ artifact_id: `many ${index}`, url: GOOD.url })));
    const child = orb.start(["queue", "list", "--limit", "100000"]);
    child.closeOutput("stdout");
    const { code, stderr } = await child.end();
    assert.deepEqual([code, stderr], [0, ""]);
  });

  test("an engine goes on working", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb({ APP_LOG_LEVEL: "debug" });
    target.script = (path) => ({ status: path === "/bad" ? 500 : 200, body: "x" });
    const engine = orb.start(["queue", "run"]);
    await engine.said("working on the queue");
    engine.closeOutput("stdout");
    engine.closeOutput("stderr");
    await orb.import([
      { artifact_id: "good", url: target.url("/good") },
      { artifact_id: "bad", url: target.url("/bad") },
    ]);
    await until(async () => {
      const { done, error } = await orb.stats();
      return done === 1 && error === 1;
    }, "both are at their end");
    engine.kill("SIGTERM");
    assert.equal((await engine.end()).code, 0);
    await orb.audit();
  });
});

describe("a handler module that cannot be used", { concurrency: 3 }, () => {
  const cases: [string, string, RegExp][] = [
    ["is not there", "", /Cannot find module/],
    ["has a mistake in it", "export const handlers = {", /APP_HANDLERS/],
    ["throws while it loads", "throw new Error('no key');", /no key/],
    ["exports nothing", "export const other = 1;", /must export "handlers"/],
    [
      "registers something that is no handler",
      "export const handlers = { odd: 5 };",
      /handlers\.odd is neither a function/,
    ],
    [
      "has a bad time limit",
      "export const handlers = { odd: { run() {}, timeoutSeconds: -1 } };",
      /handlers\.odd\.timeoutSeconds/,
    ],
    ["ends its process while it loads", "process.exit(3);", /it ended its process while loading/],
  ];
  for (const [name, source, message] of cases) {
    test(`because it ${name} stops the start with a sentence`, async () => {
      await using orb = new Installation();
      const file = join(orb.dir, "handlers.ts");
      if (source !== "") orb.file("handlers.ts", source);
      const ended = await orb.run(["queue", "run", "--drain"], { env: { APP_HANDLERS: file } });
      expectRefused(ended, 2, message);
      assert.match(ended.stderr, /^error: APP_HANDLERS: .*handlers\.ts: /m);
    });
  }
});
