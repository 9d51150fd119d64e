import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { createLog, silentLog } from "../../src/base/log.ts";
import { identityOf, type ProcessIdentity } from "../../src/base/machine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { takeUp } from "../../src/app/supervise.ts";
import { Child, type Health } from "../../src/supervisor/processes/child.ts";
import { LogFile } from "../../src/supervisor/processes/log-file.ts";
import { PACE } from "../../src/supervisor/processes/restarts.ts";
import { type ChildStatus, provenState, StateFile, upFolder } from "../../src/supervisor/processes/state-file.ts";
import { stopUp } from "../../src/supervisor/processes/stop-up.ts";
import { acquireSupervisorLock } from "../../src/supervisor/processes/up-lock.ts";
import { until } from "../chaos/orb.ts";
import { isAlive } from "../fetch/browser/processes.ts";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

const configIn = (dir: string) => loadConfig({ env: { APP_PORT: "0" }, cwd: dir }).config;

/** A process that does nothing, and is gone at the end; `deaf`: it does not stop when it is asked. */
async function idle({ deaf = false } = {}): Promise<Disposable & { pid: number; identity: ProcessIdentity }> {
  const words = deaf ? "trap '' TERM; echo ready; while :; do sleep 1; done" : "echo ready; exec sleep 600";
  const child = spawn("sh", ["-c", words], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const identity = identityOf(pid);
  assert.ok(identity !== null);
  return {
    pid,
    identity,
    [Symbol.dispose]: () => {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // It has been ended already.
      }
    },
  };
}

function workerAs(identity: ProcessIdentity): ChildStatus {
  const about = { port: null, restarts: 0, since: 1, health: "works, 3 in flight", note: null };
  return { name: "worker-1", kind: "worker", state: "up", identity, ...about };
}

test("a log file that cannot be copied keeps the older ones, and rotates as soon as it can be", () => {
  using dir = tempDir();
  const path = join(dir.path, "worker-1.log");
  writeFileSync(path, "now\n");
  writeFileSync(`${path}.1`, "before\n");
  writeFileSync(`${path}.2`, "long before\n");
  symlinkSync(join(dir.path, "missing", "file"), `${path}.new`);
  const file = new LogFile(path);
  const rules = { maxBytes: 1, keep: 3, lookMs: 1 };
  assert.throws(() => file.rotate(rules), /ENOENT/);
  const read = (end: string) => readFileSync(`${path}${end}`, "utf8");
  assert.deepEqual(["", ".1", ".2"].map(read), ["now\n", "before\n", "long before\n"]);
  file.rotate(rules);
  assert.deepEqual(["", ".1", ".2", ".3"].map(read), ["", "now\n", "before\n", "long before\n"]);
  assert.ok(!existsSync(`${path}.new`));
});

test("what a child says of itself is written down when it changes", async () => {
  using sleeper = await idle();
  const said: Health[] = ["stands by", "stands by", "works, 1 in flight", "drained"].map((what) => ({
    ok: true,
    what,
  }));
  const { promise: exited, resolve: gone } = Promise.withResolvers<string>();
  const written: (string | null)[] = [];
  const child: Child = new Child(
    {
      name: "worker-1",
      kind: "worker",
      begin: async () => ({ identity: sleeper.identity, exited, kill: () => gone("SIGTERM") }),
      check: async () => (said.length > 1 ? said.shift() : said[0]) as Health,
      port: () => null,
      lastWords: () => null,
      checkEveryMs: 1,
      hungAfter: 1,
      stopSteps: [],
      atOnce: "SIGKILL",
    },
    { clock: systemClock, log: silentLog, pace: PACE, changed: () => written.push(child.status.health) },
  );
  await child.start();
  await until(() => written.at(-1) === "drained", "the last words are written");
  assert.deepEqual(
    written.filter((words) => words !== null),
    ["stands by", "works, 1 in flight", "drained"],
  );
  await child.stop();
});

test("a second orb up leaves the database alone", async () => {
  using dir = tempDir();
  const config = configIn(dir.path);
  const lock = acquireSupervisorLock(upFolder(config.dataDir));
  assert.ok(lock !== null);
  const surroundings = { entry: join(root, "bin/orb"), env: process.env, cwd: dir.path };
  assert.equal(await takeUp(config, silentLog, surroundings), null);
  assert.ok(!existsSync(join(config.dataDir, "orb.db")));
  lock.release();
});

test("what a dead supervisor left is not lost when the next one cannot begin", async () => {
  using dir = tempDir();
  using left = await idle();
  const config = configIn(dir.path);
  const file = new StateFile(config.dataDir);
  const state = { supervisor: null, by: "up" as const, startedAt: 1, url: null, ports: { redis: 6391 } };
  file.write({ ...state, children: [workerAs(left.identity)] });
  mkdirSync(join(config.dataDir, "orb.db"));
  const surroundings = { entry: join(root, "bin/orb"), env: process.env, cwd: dir.path };
  await assert.rejects(takeUp(config, silentLog, surroundings));
  assert.equal(file.read()?.children[0]?.identity?.pid, left.pid);
  const lock = acquireSupervisorLock(upFolder(config.dataDir));
  assert.ok(lock !== null, "it holds nothing any more");
  lock.release();
});

test("orb up --stop in place of a dead supervisor ends what is left, and nothing is told of it any more", async () => {
  using dir = tempDir();
  using left = await idle();
  const config = configIn(dir.path);
  const file = new StateFile(config.dataDir);
  const dead = { ...left.identity, pidStart: `1@${left.identity.pidStart.split("@")[1]}` };
  const ports = { redis: 6391 };
  const children = [workerAs(left.identity), { ...workerAs(dead), name: "worker-2" }];
  file.write({ supervisor: dead, by: "up", startedAt: 1, url: "http://127.0.0.1:1", ports, children });
  const state = provenState(file.read() ?? assert.fail());
  assert.deepEqual(
    state.children.map(({ name, state, health }) => [name, state, health]),
    [
      ["worker-1", "up", "works, 3 in flight"],
      ["worker-2", "gone", null],
    ],
  );
  assert.equal(await stopUp(config, silentLog), "stopped");
  assert.ok(!isAlive(left.pid));
  assert.deepEqual(file.read(), { supervisor: null, by: "up", startedAt: 1, url: null, ports, children: [] });
  assert.equal(await stopUp(config, silentLog), "nothing runs");
});

test("orb up --stop says what it waits for, and does not wait for ever", async () => {
  using dir = tempDir();
  using hung = await idle({ deaf: true });
  const config = configIn(dir.path);
  const lock = acquireSupervisorLock(upFolder(config.dataDir));
  const state = { supervisor: hung.identity, by: "up" as const, startedAt: 1, url: null, ports: {} };
  new StateFile(config.dataDir).write({ ...state, children: [workerAs(hung.identity)] });
  const lines: string[] = [];
  const log = createLog({ level: "info", pretty: false, write: (line) => lines.push(line) });
  const pace = { patienceMs: 60, sayMs: 20 };
  await assert.rejects(stopUp(config, log, pace), (error) => {
    assert.ok(isOrbError(error));
    assert.match(error.message, new RegExp(`process ${hung.pid} .*has not stopped within 0.06 s`));
    assert.match(error.hint ?? "", new RegExp(`kill -9 ${hung.pid}`));
    return true;
  });
  assert.match(lines.join(""), /waiting for worker-1 to stop/);
  lock?.release();
});

test("orb up --stop leaves a program alone that has the services of its own", async () => {
  using dir = tempDir();
  using program = await idle();
  const config = configIn(dir.path);
  const lock = acquireSupervisorLock(upFolder(config.dataDir));
  const state = { supervisor: program.identity, by: "program" as const, startedAt: 1, url: null, ports: {} };
  new StateFile(config.dataDir).write({ ...state, children: [] });
  await assert.rejects(
    stopUp(config, silentLog),
    new RegExp(`process ${program.pid}, a program that uses the library`),
  );
  assert.ok(isAlive(program.pid));
  lock?.release();
});
