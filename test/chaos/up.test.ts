import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { identityOf } from "../../src/base/machine.ts";
import { findPostgres } from "../../src/supervisor/services/programs.ts";
import type { UpState } from "../../src/supervisor/processes/state-file.ts";
import { isAlive } from "../fetch/browser/processes.ts";
import { CheckedApi } from "../jobs/answers.ts";
import { servicesGate } from "../support/services-kit.ts";
import { assertStored, FULL, report, until } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";
import { isDone, type Told, Upped } from "./upped.ts";

const SERVICES = { APP_MANAGED_SERVICES: "redis,postgres" };

describe("orb up with a Redis and a Postgres of its own", servicesGate, () => {
  // One installation after another costs a Postgres each; these go on where the one before has stopped.
  let up: Upped;
  before(async () => {
    // The first port of its Postgres is taken: it uses another one without a restart.
    await using _stranger = await listenOn(5433);
    up = await Upped.start({ ...SERVICES, APP_MAX_PER_HOST: "2" }, { sqlite: true });
  });
  after(() => up?.[Symbol.asyncDispose]());

  test("kill -9 of every child in turn is healed, nothing that was confirmed is lost, SIGTERM leaves nothing", async () => {
    await using target = await Target.start(1);
    target.latencyMs = 20;
    const redis = redisOf(up);
    const postgres = postgresOf(up);
    redis("SET", "kept", "yes");
    postgres("CREATE TABLE kept (word text)");
    postgres("INSERT INTO kept VALUES ('yes')");
    const names = Array.from({ length: FULL ? 1000 : 100 }, (_, index) => `item${index}`);
    await up.orb.import(names.map((name) => ({ artifact_id: name, url: target.url(`/${name}`) })));
    const api = await CheckedApi.open(up.url);
    const job = await api.post("/jobs", { name: "kept", target_url: target.url("/job") });
    assert.equal(job.status, 201, job.text);
    const took: Record<string, string> = {};
    for (const name of ["redis", "postgres", "api", "worker-1"]) {
      const pid = up.pid(name);
      const killed = Date.now();
      process.kill(pid, "SIGKILL");
      const next = await up.replaced(name, pid);
      took[name] = `${Date.now() - killed} ms`;
      assert.equal(up.pid(name), next);
      assert.ok(!isAlive(pid));
    }
    report("healed after kill -9", took);
    assert.equal(redis("GET", "kept"), "yes");
    assert.equal(postgres("SELECT word FROM kept"), "yes");
    assert.equal((await api.get("/jobs")).json<unknown[]>().length, 1, "the same address answers");
    await api.close();
    await until(async () => isDone(await up.orb.items(), names.length), "the whole queue is done");
    const { code, stderr } = await up.stopped();
    assert.equal(code, 0, stderr);
    assert.match(stderr, /"message":"stopped"/);
    const items = await up.orb.items();
    for (const name of names) assertStored(items.get(name), bodyOf(`/${name}`), name);
    await up.orb.audit();
  });

  test("a second one says what runs and ends with 0; after kill -9 the next one takes the services over", async () => {
    await up.again();
    const found = up.state();
    const second = await up.orb.json<Told>("up");
    assert.equal(second.pid, up.process.pid);
    assert.deepEqual(
      second.processes.map(({ name, state, pid }) => [name, state, pid]),
      found.children.map(({ name, identity }) => [name, "up", identity?.pid]),
    );
    const words = await up.orb.run(["up"]);
    assert.equal(words.code, 0, words.stderr);
    assert.match(words.stdout, new RegExp(`orb up runs as process ${up.process.pid}\\n`));
    assert.match(words.stdout, /postgres +up +\d+ +0/);

    const [worker, api] = [up.pid("worker-1"), up.pid("api")];
    await up.process.killed();
    const left = await up.orb.run(["up", "--status", "--json"]);
    const { running, pid: supervisor } = JSON.parse(left.stdout) as Told;
    assert.deepEqual([left.code, running, supervisor], [1, false, null]);
    // The file contains the pid of an unrelated live process, as after a reboot.
    const stranger = spawn("sleep", ["600"]);
    try {
      const pid = stranger.pid ?? 0;
      const file = join(up.orb.dataDir, "up", "state.json");
      const state = JSON.parse(readFileSync(file, "utf8")) as UpState;
      const [stale] = state.children;
      assert.ok(stale?.identity);
      const old = { ...stale.identity, pid, pidStart: `1@${identityOf(pid)?.pidStart.split("@")[1]}` };
      state.children.push({ ...stale, kind: "worker", name: "worker-2", identity: old });
      state.supervisor = old;
      writeFileSync(file, JSON.stringify(state));
      await up.again();
      for (const name of ["redis", "postgres"])
        assert.equal(
          up.pid(name),
          found.children.find((child) => child.name === name)?.identity?.pid,
          `${name} is the same`,
        );
      await until(() => !isAlive(worker) && !isAlive(api), "the old ones are gone");
      assert.notEqual(up.pid("worker-1"), worker);
      assert.equal(up.left().length, new Set(up.left()).size);
      assert.equal(up.left().filter((left) => left === up.pid("redis")).length, 1);
      // One that was taken over is looked after like any other.
      const adopted = up.pid("redis");
      process.kill(adopted, "SIGKILL");
      await up.replaced("redis", adopted);
      assert.equal((await up.stopped()).code, 0);
      assert.ok(isAlive(pid), "the stranger was left alone");
      assert.equal(stranger.signalCode, null);
    } finally {
      stranger.kill();
    }
  });

  test("what a killed one left is ended by orb up --stop; a stale lock of Postgres does not keep it from starting", async () => {
    const few = { APP_MANAGED_SERVICES: "postgres", APP_UP_WORKERS: "0" };
    await up.again(few);
    const pid = up.pid("postgres");
    await up.process.killed();
    assert.ok(isAlive(pid), "the service goes on without its supervisor");
    assert.deepEqual(await up.orb.json("up", "--stop"), { stopped: true });
    assert.deepEqual(up.left(), []);
    const over = await up.orb.run(["up", "--status", "--json"]);
    assert.deepEqual([over.code, JSON.parse(over.stdout)], [1, { running: false, pid: null, processes: [] }]);
    assert.deepEqual(await up.orb.json("up", "--stop"), { stopped: false });
    // As a kill leaves it that hits just when the cluster was made.
    const passwordFile = join(up.orb.dataDir, "services/postgres/password.initdb");
    writeFileSync(passwordFile, "secret");
    await up.again(few);
    assert.ok(!existsSync(passwordFile));
    const next = up.pid("postgres");
    await up.process.killed();
    process.kill(next, "SIGKILL");
    await until(() => up.left().length === 0, "all of Postgres is gone");
    // Simulates a pid that another process has by now.
    const stranger = spawn("sleep", ["600"], process.getuid?.() === 0 ? ownerOf(up) : {});
    try {
      const lock = join(up.orb.dataDir, "services/postgres/data/postmaster.pid");
      writeFileSync(lock, readFileSync(lock, "utf8").replace(/^\d+/, String(stranger.pid)));
      const file = join(up.orb.dataDir, "up/state.json");
      writeFileSync(file, readFileSync(file, "utf8").replaceAll(`"pid": ${next},`, `"pid": ${stranger.pid},`));
      await up.again(few);
      assert.equal(stranger.signalCode, null);
      assert.equal((await up.stopped()).code, 0);
      assert.ok(isAlive(stranger.pid ?? 0));
    } finally {
      stranger.kill();
    }
  });
});

function portOf(up: Upped, name: "redis" | "postgres"): string {
  return String(up.state().ports[name]);
}

function passwordOf(up: Upped, name: string): string {
  return readFileSync(join(up.orb.dataDir, "services", name, "password"), "utf8").trim();
}

function redisOf(up: Upped) {
  return (...words: string[]): string =>
    execFileSync("redis-cli", ["-p", portOf(up, "redis"), ...words], {
      encoding: "utf8",
      env: { ...process.env, REDISCLI_AUTH: passwordOf(up, "redis") },
    }).trim();
}

/** Beside the server itself: what stands on the PATH may be a link to it alone. */
function psql(): string {
  return join(dirname(realpathSync(join(findPostgres() ?? "", "postgres"))), "psql");
}

function postgresOf(up: Upped) {
  return (statement: string): string =>
    execFileSync(
      psql(),
      ["-h", "127.0.0.1", "-p", portOf(up, "postgres"), "-U", "orb", "-d", "orb", "-qtAc", statement],
      { encoding: "utf8", env: { ...process.env, PGPASSWORD: passwordOf(up, "postgres") } },
    ).trim();
}

/** Who Postgres runs as: only a process of the same user keeps it from starting. */
function ownerOf(up: Upped): { uid: number; gid: number } {
  const file = join(up.orb.dataDir, "services/postgres/data");
  const [uid = "", gid = ""] = execFileSync("stat", ["-c", "%u %g", file], { encoding: "utf8" }).trim().split(" ");
  return { uid: Number(uid), gid: Number(gid) };
}

/** Binds a port unless it is taken. */
async function listenOn(port: number): Promise<AsyncDisposable> {
  const server = createServer();
  const taken = Promise.withResolvers<boolean>();
  server.once("listening", () => taken.resolve(true)).once("error", () => taken.resolve(false));
  server.listen(port, "127.0.0.1");
  const isMine = await taken.promise;
  return {
    async [Symbol.asyncDispose]() {
      if (isMine) await new Promise((resolve) => server.close(resolve));
    },
  };
}
