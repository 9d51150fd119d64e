import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { root } from "./support/source.ts";
import { tempDir } from "./support/temp-dir.ts";

/** Runs scripts/test.mjs over test files made for the purpose. */
function runTests(files: Record<string, string>, args: string[] = [], env: Record<string, string> = {}) {
  using dir = tempDir();
  const folder = dir.path;
  for (const [name, body] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `import { before, describe, it, test } from "node:test";\n${body}`);
  }
  // Without these a test runner inside a test runner believes to be its child.
  const { NODE_TEST_CONTEXT: _context, CI: _ci, ...plain } = process.env;
  const result = spawnSync(process.execPath, [join(root, "scripts/test.mjs"), ...args], {
    encoding: "utf8",
    env: { ...plain, ORB_TEST_DIR: folder, ...env },
  });
  const lines = result.stdout.trimEnd().split("\n");
  return { code: result.status, last: lines.at(-1), out: result.stdout, err: result.stderr };
}

test("the last line counts tests, not suites and files", () => {
  const result = runTests({
    "a.test.ts": `describe("s", () => { it("one", () => {}); it("two", () => {}); });`,
    "b.test.ts": `test("three", () => { console.log("hello from three"); });`,
  });
  assert.equal(result.last, "3 passed, 0 failed");
  assert.equal(result.code, 0);
  assert.match(result.out, /hello from three/);
});

test("files of one folder share a process, are counted together, and a failure names its own", () => {
  const body = (name: string) => `test("${name}", () => console.log("${name} in", process.pid, "."));`;
  const files = {
    "room/a.test.ts": body("a"),
    "room/b.test.ts": `${body("b")}\ntest("broken", () => { throw new Error("no"); });`,
    "room/own.test.ts": `before(() => {});\n${body("own")}`,
    "room/z.test.ts": body("z"),
    "top.test.ts": body("top"),
  };
  const processOf = (out: string, name: string) => new RegExp(`^${name} in (\\d+) \\.`, "m").exec(out)?.[1] ?? name;
  const groups = (out: string) => new Set(["a", "b", "z", "own", "top"].map((name) => processOf(out, name)));
  const together = runTests(files);
  assert.equal(together.last, "5 passed, 1 failed");
  assert.equal(groups(together.out).size, 3, together.out);
  assert.match(together.out, /^✖ room\/ a, b and z: 3 passed, 1 failed/m);
  assert.match(together.out, /✖ broken\n {2}room\/b\.test\.ts:3\n/);
  const alone = runTests(files, ["--alone"]);
  assert.equal(alone.last, "5 passed, 1 failed");
  assert.equal(groups(alone.out).size, 5, alone.out);
});

test("a failure is shown in full, counted once, and makes the run fail", () => {
  const result = runTests({
    "a.test.ts": `test("outer", async (t) => { await t.test("inner", () => { throw new Error("broken pipe"); }); });
      it.skip("later", () => {}); test("fine", () => {});`,
  });
  assert.equal(result.last, "1 passed, 1 failed, 1 skipped");
  assert.equal(result.code, 1);
  assert.match(result.out, /broken pipe/);
  assert.match(result.out, /a\.test\.ts:2/);
});

test("what made a test fail is told first, and then what its end made of it", () => {
  const result = runTests({
    "a.test.ts": `test("both", async () => {
      await using thing = { async [Symbol.asyncDispose]() { throw new Error("it would not end"); } };
      throw new Error("it went wrong");
    });`,
  });
  assert.equal(result.last, "0 passed, 1 failed");
  assert.match(result.out, /Error: it went wrong\n[^]*and then, at the end of it:\n *Error: it would not end\n/);
});

test("a file that cannot be loaded, leaves early or dies is a failure", () => {
  const result = runTests({
    "load.test.ts": `throw new Error("no");`,
    "exit.test.ts": `test("x", () => process.exit(0));`,
    "kill.test.ts": `test("x", () => process.kill(process.pid, "SIGKILL"));`,
    "hook.test.ts": `describe("s", () => { before(() => { throw new Error("hook"); }); it("never", () => {}); });`,
  });
  assert.equal(result.last, "0 passed, 5 failed");
  assert.equal(result.code, 1);
});

test("an error that nobody catches is told in full, and makes the run fail", () => {
  const wait = "await new Promise((resolve) => setTimeout(resolve, 50));";
  const result = runTests({
    "timer.test.ts": `test("a timer", async () => { ${wait} setTimeout(() => { throw new Error("too late"); }, 1); ${wait} });`,
    "promise.test.ts": `test("a promise", async () => { ${wait} void Promise.reject(new Error("not kept")); ${wait} });`,
  });
  assert.equal(result.code, 1);
  assert.match(String(result.last), / 2 failed$/);
  for (const words of ["too late", "not kept", '"a timer"', '"a promise"'])
    assert.ok(result.out.includes(words), `${words}:\n${result.out}`);
});

test("a test that hangs is ended", () => {
  const result = runTests(
    { "loop.test.ts": `test("waits", () => new Promise((resolve) => setTimeout(resolve, 60_000)));` },
    [],
    // Long enough for the file to begin on a busy machine.
    { ORB_TEST_TIMEOUT_MS: "300", ORB_TEST_SPARE_MS: "20000" },
  );
  assert.equal(result.code, 1);
  assert.match(result.last ?? "", /^0 passed, [12] failed$/);
  assert.match(result.out, /timed out after 300ms/);
});

test("an endless loop and a forgotten handle are ended, too", () => {
  const loop = { "loop.test.ts": `test("spins", () => { for (;;); });` };
  const spun = runTests(loop, [], { ORB_TEST_TIMEOUT_MS: "300", ORB_TEST_SPARE_MS: "700" });
  assert.equal(spun.code, 1);
  assert.equal(spun.last, "0 passed, 1 failed");
  assert.match(spun.out, /hung in or after/);
  const handle = { "open.test.ts": `test("fine", () => { setInterval(() => {}, 1000); });` };
  const open = runTests(handle, [], { ORB_TEST_TIMEOUT_MS: "3000", ORB_TEST_SPARE_MS: "15000" });
  assert.equal(open.code, 1);
  assert.equal(open.last, "1 passed, 1 failed");
  assert.match(open.out, /something is left open|hung in or after/);
});

test("Ctrl-C ends programs in groups of their own as well, and removes what the tests have written", async () => {
  using dir = tempDir();
  const note = join(dir.path, "note.json");
  // As `orb up` starts its services.
  writeFileSync(
    join(dir.path, "a.test.ts"),
    `import { spawn } from "node:child_process";
    import { mkdtempSync, renameSync, writeFileSync } from "node:fs";
    import { tmpdir } from "node:os";
    import { test } from "node:test";
    test("stays", () => {
      const cwd = mkdtempSync(tmpdir() + "/orb-test-");
      const { pid } = spawn("sleep", ["600"], { cwd, detached: true, stdio: "ignore" });
      writeFileSync(${JSON.stringify(`${note}.new`)}, JSON.stringify({ pid, cwd }));
      renameSync(${JSON.stringify(`${note}.new`)}, ${JSON.stringify(note)});
      return new Promise(() => setInterval(() => {}, 1000));
    });`,
  );
  const { NODE_TEST_CONTEXT: _context, CI: _ci, ...plain } = process.env;
  const env = { ...plain, ORB_TEST_DIR: dir.path };
  const written = new AbortController();
  const watcher = watch(dir.path, () => existsSync(note) && written.abort());
  const runner = spawn(process.execPath, [join(root, "scripts/test.mjs")], { env, stdio: "ignore" });
  const ended = once(runner, "exit") as Promise<[number | null]>;
  if (!existsSync(note)) await Promise.race([once(written.signal, "abort"), ended]);
  const { pid, cwd } = JSON.parse(readFileSync(note, "utf8")) as { pid: number; cwd: string };
  runner.kill("SIGINT");
  const [code] = await ended;
  watcher.close();
  assert.equal(code, 1);
  assert.equal(existsSync(cwd), false);
  assert.equal(isAtWork(pid), false);
});

/** One that is dead, but that nobody has asked about yet, is not. */
function isAtWork(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}

test("a run without tests is not a success", () => {
  const result = runTests({ "a.test.ts": `test("one", () => {});` }, ["no-such-file"]);
  assert.equal(result.last, "0 passed, 0 failed");
  assert.equal(result.code, 1);
});

test("file names choose, --full reaches the tests", () => {
  const body = `test(process.env.ORB_TEST_FULL === "1" ? "full" : "short", (t) => console.log("ran " + t.name));`;
  const result = runTests({ "alpha.test.ts": body, "beta.test.ts": body }, ["--full", "alpha"]);
  assert.equal(result.last, "1 passed, 0 failed");
  assert.match(result.out, /ran full/);
});

test("what is missing on this machine is skipped loudly, but fails with CI=true", () => {
  const gate = JSON.stringify(join(root, "test/support/gate.ts"));
  const files = {
    "a.test.ts": `const { gate } = await import(${gate});
      test("one", () => {}); test("with database", gate("database", false, "there is no database"), () => {});`,
  };
  const here = runTests(files);
  assert.equal(here.last, "1 passed, 0 failed, 1 skipped");
  assert.match(here.out, /SKIPPED {2}database: there is no database/);
  assert.equal(runTests(files, [], { CI: "true" }).code, 1);
});

test("an installation is complete when it holds what the lock file asks for", async () => {
  using dir = tempDir();
  const folder = dir.path;
  const script = join(root, "scripts/bootstrap.mjs");
  const { isInstalled } = (await import(script)) as { isInstalled(folder: string, dev?: boolean): boolean };
  const write = (path: string, packages: unknown) => writeFileSync(join(folder, path), JSON.stringify({ packages }));
  const a = { version: "1.0.0", integrity: "x" };
  const tool = { version: "2.0.0", integrity: "y", dev: true };
  const other = { version: "3.0.0", integrity: "z", optional: true };
  write("package-lock.json", { "": {}, "node_modules/a": a, "node_modules/tool": tool, "node_modules/other": other });
  assert.equal(isInstalled(folder), false);
  mkdirSync(join(folder, "node_modules"));
  write("node_modules/.package-lock.json", { "node_modules/a": a, "node_modules/tool": tool });
  assert.equal(isInstalled(folder), true);
  write("node_modules/.package-lock.json", { "node_modules/a": a });
  assert.equal(isInstalled(folder), false);
  assert.equal(isInstalled(folder, false), true);
  write("node_modules/.package-lock.json", { "node_modules/a": { ...a, version: "0.9.0" }, "node_modules/tool": tool });
  assert.equal(isInstalled(folder), false);
});

interface AtOnce {
  MOST_AT_ONCE: number;
  forEachAtOnce(list: number[], work: (one: number) => Promise<void>, more?: { signal?: AbortSignal }): Promise<void>;
}

test("one process more than there are cores runs at a time, each once, and none starts after Ctrl-C", async () => {
  const { MOST_AT_ONCE, forEachAtOnce } = (await import(join(root, "scripts/test/at-once.mjs"))) as AtOnce;
  assert.equal(MOST_AT_ONCE, availableParallelism() + 1);
  let now = 0;
  let most = 0;
  const seen: number[] = [];
  const list = Array.from({ length: 40 }, (_, index) => index);
  await forEachAtOnce(list, async (one) => {
    seen.push(one);
    most = Math.max(most, (now += 1));
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
  });
  assert.deepEqual([seen, most], [list, MOST_AT_ONCE]);
  const begun: number[] = [];
  const stop = new AbortController();
  const work = async (one: number) => {
    begun.push(one);
    stop.abort();
  };
  await forEachAtOnce([1, 2, 3], work, { signal: stop.signal });
  assert.deepEqual(begun, [1]);
});

test("npm test leaves out what is slow, the rest is just that, and a file that is named is run whole", () => {
  const files = {
    "room/a.test.ts": `test("quick", () => {}); test("long [slow]", () => {});
      describe("all of it [slow]", () => { it("one", () => {}); it("two", () => {}); });`,
    "room/b.test.ts": `test("quick, too", () => {});`,
    "package/c.test.ts": `test("packs", () => {});`,
  };
  assert.equal(runTests(files).last, "2 passed, 0 failed");
  assert.equal(runTests(files, ["--tier", "rest"]).last, "4 passed, 0 failed");
  assert.equal(runTests(files, ["--tier", "all"]).last, "6 passed, 0 failed");
  assert.equal(runTests(files, ["room/a"]).last, "4 passed, 0 failed");
  assert.equal(runTests(files, ["--grep", "^(quick|packs)"]).last, "3 passed, 0 failed");
  assert.equal(runTests(files, ["room/a", "--grep", "quick", "--repeat", "3"]).last, "3 passed, 0 failed");
  assert.match(runTests(files, ["--tier", "slow"]).err, /--tier: expected fast, rest or all/);
});

test("the lists of tiers name files that exist", async () => {
  const { REST, FAST } = (await import(join(root, "scripts/test/tiers.mjs"))) as Record<string, string[]>;
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".test.ts"),
  );
  const unknown = [...(REST ?? []), ...(FAST ?? [])].filter((start) => !files.some((file) => file.startsWith(start)));
  assert.deepEqual(unknown, []);
});

test("a failure is printed at once, with the last lines of the processes that its test has started", async () => {
  using dir = tempDir();
  const go = join(dir.path, "go");
  writeFileSync(
    join(dir.path, "a.test.ts"),
    `import { spawn } from "node:child_process";
    import { once } from "node:events";
    import { existsSync, openSync, readFileSync } from "node:fs";
    import { test } from "node:test";
    test("fails", async () => {
      const piped = spawn("sh", ["-c", "echo piped line; echo to stderr >&2"]);
      await once(piped, "close");
      const log = openSync(process.env.TMPDIR + "/log", "a");
      const logged = spawn("sh", ["-c", "echo logged line >&2; sleep 600"], { stdio: ["ignore", log, log] });
      const isLogged = () => readFileSync(process.env.TMPDIR + "/log", "utf8") !== "";
      while (!isLogged()) await new Promise((resolve) => setTimeout(resolve, 5));
      logged.unref();
      throw new Error("with seed 4711");
    });
    test("goes on", async () => {
      while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 5));
    });`,
  );
  const { NODE_TEST_CONTEXT: _context, CI: _ci, ...plain } = process.env;
  const runner = spawn(process.execPath, [join(root, "scripts/test.mjs")], {
    env: { ...plain, ORB_TEST_DIR: dir.path },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  for await (const chunk of runner.stdout.setEncoding("utf8")) {
    out += String(chunk);
    if (out.includes("with seed 4711") && !existsSync(go)) {
      // The run has not ended: the next test waits for this.
      assert.match(out, /✖ fails\n {2}a\.test\.ts:5\n/);
      writeFileSync(go, "");
    }
  }
  assert.match(out, /last lines of sh -c echo piped line[^\n]*, exit code 0\):\n {4}\| piped line\n {4}\| to stderr\n/);
  assert.match(out, /\| logged line\n/);
  assert.match(out, /1 passed, 1 failed\n$/);
});

test("what a run records for others holds its own tests, and none of runs that its tests start", () => {
  using dir = tempDir();
  const record = join(dir.path, "record.jsonl");
  const body = `test("sees nothing", () => { if (process.env.ORB_TEST_RECORD !== undefined) throw new Error("seen"); });`;
  assert.equal(runTests({ "a.test.ts": body }, [], { ORB_TEST_RECORD: record }).last, "1 passed, 0 failed");
  assert.equal(readFileSync(record, "utf8"), `{"totals":{"passed":1,"failed":0,"skipped":0}}\n`);
});

test("the soak repeats a tier beside busy loops and names the tests that ever failed", () => {
  using dir = tempDir();
  const count = join(dir.path, "count");
  writeFileSync(
    join(dir.path, "a.test.ts"),
    `import { appendFileSync, readFileSync } from "node:fs";
    import { test } from "node:test";
    test("fails the second time", () => {
      appendFileSync(${JSON.stringify(count)}, "x");
      if (readFileSync(${JSON.stringify(count)}, "utf8").length === 2) throw new Error("now and then");
    });
    test("passes", () => {});`,
  );
  const { NODE_TEST_CONTEXT: _context, CI: _ci, ...plain } = process.env;
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, "scripts/soak.mjs"), "--rounds", "3", "--hogs", "1"],
    {
      encoding: "utf8",
      env: { ...plain, ORB_TEST_DIR: dir.path },
    },
  );
  assert.equal(status, 1);
  assert.match(
    stdout,
    /round 1: 2 passed, 0 failed[^\n]*\nround 2: 1 passed, 1 failed[^\n]*\nround 3: 2 passed, 0 failed/,
  );
  assert.match(
    stdout,
    /✖ fails the second time\n {4}a\.test\.ts\n {4}failed in round 2\n1 tests failed at least once\n$/,
  );
});
