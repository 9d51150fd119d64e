import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { root } from "./support/source.ts";
import { tempDir } from "./support/temp-dir.ts";

/** Says what it sees, and does what it is told. */
const PROGRAM = `
  import { createInterface } from "node:readline";
  export async function main(argv: string[]): Promise<number> {
    console.log(JSON.stringify({ version: process.version, pid: process.pid, argv, fd: process.env["ORB_PARENT_FD"] ?? null }));
    if (argv[0] === "exit") return Number(argv[1]);
    if (argv[0] === "die") process.kill(process.pid, "SIGUSR2");
    if (argv[0] === "warn") { process.emitWarning("look out"); return 0; }
    if (argv[0] === "echo") for await (const line of createInterface({ input: process.stdin })) console.log("read " + line);
    if (argv[0] === "sleep") await new Promise((resolve) => setTimeout(resolve, 600_000));
    if (argv[0] === "obey") {
      const got: string[] = [];
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => { got.push(signal); console.log("got " + signal); });
      console.log("ready");
      for await (const line of createInterface({ input: process.stdin })) if (line === "end") break;
      console.log("all " + got.join(","));
    }
    return 0;
  }
`;

/** Pretends to be an old Node, but only to the first process: the one that takes over has the pipe's variable. */
const OLD = `if (process.env.ORB_PARENT_FD === undefined)
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.0" } });`;

interface Package {
  dir: string;
  start(...args: string[]): Running;
}

interface Running {
  child: ChildProcess;
  /** The next line it prints. */
  line(): Promise<string>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

function makePackage(
  t: TestContext,
  node: readonly string[],
  options: { runtime?: boolean; built?: boolean } = {},
): Package {
  const folder = tempDir();
  t.after(() => folder[Symbol.dispose]());
  const dir = folder.path;
  cpSync(join(root, "bin"), join(dir, "bin"), { recursive: true });
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  const [place, file] = options.built === true ? ["dist/code", "main.js"] : ["src", "main.ts"];
  mkdirSync(join(dir, place), { recursive: true });
  writeFileSync(join(dir, place, file), options.built === true ? "export const main = async () => 5;" : PROGRAM);
  writeFileSync(join(dir, "old.mjs"), OLD);
  if (options.runtime !== false) {
    mkdirSync(join(dir, "node_modules/node/bin"), { recursive: true });
    symlinkSync(process.execPath, join(dir, "node_modules/node/bin/node"));
  }
  const [command = "", ...flags] = node;
  return {
    dir,
    start: (...args) => {
      // The tests' own place for compiled code would be the program's, too.
      const { NODE_COMPILE_CACHE: _, ...env } = process.env;
      return follow(t, spawn(command, [...flags, join(dir, "bin/orb"), ...args], { cwd: dir, env, detached: true }));
    },
  };
}

function follow(t: TestContext, child: ChildProcess): Running {
  t.after(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone already, as it should be.
    }
  });
  let stderr = "";
  child.stderr?.on("data", (text: Buffer) => (stderr += text.toString()));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    child,
    line: async () => (await lines.next()).value ?? "(end)",
    ended: new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, stderr }))),
  };
}

/** The oldest kind of Node that is at hand: `npm test` puts the new one first on the path. */
function findOldNode(): string | undefined {
  const candidates = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  return candidates.find((path) => {
    if (!existsSync(path)) return false;
    const major = Number.parseInt(execFileSync(path, ["--version"], { encoding: "utf8" }).slice(1), 10);
    return major >= 20 && major < 24;
  });
}

const oldNode = findOldNode();
const kinds: { name: string; node: readonly string[] }[] = [
  { name: "an old Node (pretended)", node: [process.execPath, "--import", "./old.mjs"] },
  ...(oldNode === undefined ? [] : [{ name: "an old Node (real)", node: [oldNode] }]),
];

for (const { name, node } of kinds) {
  test(`${name} hands over: arguments, exit code, nothing left in the environment`, async (t) => {
    const { line, ended } = makePackage(t, node).start("exit", "7", "--flag", "a b");
    const seen = JSON.parse(await line()) as { version: string; argv: string[]; fd: string | null };
    assert.equal(seen.version, process.version);
    assert.deepEqual(seen.argv, ["exit", "7", "--flag", "a b"]);
    assert.equal(seen.fd, null);
    assert.deepEqual(await ended, { code: 7, signal: null, stderr: "" });
  });

  test(`${name} hands over: standard input`, async (t) => {
    const { child, line, ended } = makePackage(t, node).start("echo");
    await line();
    child.stdin?.end("one\ntwo\n");
    assert.equal(await line(), "read one");
    assert.equal(await line(), "read two");
    assert.equal((await ended).code, 0);
  });

  test(`${name} hands over: a program that dies of a signal is seen to die of it`, async (t) => {
    const { ended } = makePackage(t, node).start("die");
    assert.equal((await ended).signal, "SIGUSR2");
  });

  test(`${name} hands over: SIGTERM ends a program that does not handle it`, async (t) => {
    const { child, line, ended } = makePackage(t, node).start("sleep");
    await line();
    child.kill("SIGTERM");
    assert.equal((await ended).signal, "SIGTERM");
  });

  test(`${name} hands over: each signal arrives once, sent to one process or to both`, async (t) => {
    const { child, line, ended } = makePackage(t, node).start("obey");
    await line();
    assert.equal(await line(), "ready");
    child.kill("SIGTERM");
    assert.equal(await line(), "got SIGTERM");
    // Ctrl-C and process supervisors signal the whole group.
    process.kill(-child.pid!, "SIGINT");
    assert.equal(await line(), "got SIGINT");
    // The next forward comes behind the last one's, so when it is here, that one was dropped.
    child.kill("SIGTERM");
    assert.equal(await line(), "got SIGTERM");
    child.stdin?.end("end\n");
    assert.equal(await line(), "all SIGTERM,SIGINT,SIGTERM");
    assert.equal((await ended).code, 0);
  });

  test(`${name} hands over: kill -9 of the first process ends the second`, { timeout: 240_000 }, async (t) => {
    const { child, line, ended } = makePackage(t, node).start("sleep");
    const { pid } = JSON.parse(await line()) as { pid: number };
    assert.notEqual(pid, child.pid);
    child.kill("SIGKILL");
    // `close` comes when nobody holds the standard output any more, long before the second has slept its fill.
    assert.equal((await ended).signal, "SIGKILL");
  });

  test(`${name} without a newer one at hand says what to do`, async (t) => {
    const { ended } = makePackage(t, node, { runtime: false }).start("exit", "0");
    const { code, stderr } = await ended;
    assert.equal(code, 1);
    assert.match(stderr, /^orb needs Node 24 or newer, this is 2\d\.[\d.]+: run `npm ci` .* or install Node 24\.\n$/);
  });
}

test("a new Node runs the program itself, and keeps compiled code inside the clone", async (t) => {
  const { dir, start } = makePackage(t, [process.execPath]);
  const { child, line, ended } = start("exit", "3");
  assert.equal((JSON.parse(await line()) as { pid: number }).pid, child.pid);
  assert.equal((await ended).code, 3);
  assert.ok(existsSync(join(dir, "node_modules/.cache/orb")));
});

test("a published package on an old Node asks for a newer one, and speaks of no clone", async (t) => {
  const node = [process.execPath, "--import", "./old.mjs"];
  const { code, stderr } = await makePackage(t, node, { built: true, runtime: false }).start().ended;
  assert.equal(code, 1);
  assert.equal(stderr, "orb needs Node 24 or newer, this is 20.11.0: install Node 24.\n");
});

test("without sources the built program is run", async (t) => {
  const { ended } = makePackage(t, [process.execPath], { built: true }).start();
  assert.equal((await ended).code, 5);
});

test("warnings that matter are shown", async (t) => {
  const { ended } = makePackage(t, [process.execPath]).start("warn");
  assert.match((await ended).stderr, /Warning: look out/);
});

test("packages are not installed through a link: what it leads to is somebody else's", async (t) => {
  const folder = tempDir();
  t.after(() => folder[Symbol.dispose]());
  const [there, here] = [join(folder.path, "there"), join(folder.path, "here")];
  mkdirSync(join(there, "kept"), { recursive: true });
  mkdirSync(here);
  symlinkSync(there, join(here, "node_modules"));
  writeFileSync(join(here, "package.json"), '{"name":"here"}');
  const wanted = { lockfileVersion: 3, packages: { "": {}, "node_modules/one": { version: "1.0.0", integrity: "x" } } };
  writeFileSync(join(here, "package-lock.json"), JSON.stringify(wanted));
  const { ensureInstalled } = (await import(join(root, "scripts/bootstrap.mjs"))) as {
    ensureInstalled(options: { folder: string }): Promise<boolean>;
  };
  await assert.rejects(ensureInstalled({ folder: here }), /is a link/);
  assert.ok(existsSync(join(there, "kept")));
});
