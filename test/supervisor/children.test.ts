import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createLog, type Log } from "../../src/base/log.ts";
import { openClient } from "../../src/app/context.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/options.ts";
import { Orchestrator } from "../../src/app/library/library.ts";
import { takeUp } from "../../src/app/supervise.ts";
import { Child } from "../../src/supervisor/processes/child.ts";
import { PACE, Restarts } from "../../src/supervisor/processes/restarts.ts";
import { serviceChild, SERVICES } from "../../src/supervisor/services/services.ts";
import { StateFile } from "../../src/supervisor/processes/state-file.ts";
import { OrbProcess, until } from "../chaos/orb.ts";
import { isAlive } from "../fetch/browser/processes.ts";
import { startRedis } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

function configIn(dir: string, env: Record<string, string> = {}): Config {
  // Postgres runs as another user when the tests run as root.
  chmodSync(dir, 0o711);
  return loadConfig({ env: { APP_PORT: "0", ...env }, cwd: dir }).config;
}

/** A log that can be read. */
function noted(): { log: Log; lines: { level: string; message: string; why?: string }[] } {
  const lines: { level: string; message: string; why?: string }[] = [];
  return { lines, log: createLog({ level: "debug", pretty: false, write: (line) => lines.push(JSON.parse(line)) }) };
}

test("what dies is started again ever later, rarely when it keeps dying, and soon again after a minute of health", () => {
  const restarts = new Restarts(PACE);
  const waits = [0, 1, 2, 3, 4].map((second) => restarts.died(second * 1000));
  assert.deepEqual(
    waits.map(({ waitMs }) => waitMs),
    [500, 1000, 2000, 4000, 8000],
  );
  assert.ok(waits.every(({ crashLoop }) => !crashLoop));
  assert.deepEqual(restarts.died(50_000), { waitMs: 60_000, crashLoop: true }, "the sixth within a minute");
  assert.equal(restarts.well(59_000), false);
  assert.deepEqual(restarts.died(200_000), { waitMs: 60_000, crashLoop: true }, "it was not well for long enough");
  assert.equal(restarts.well(60_000), true);
  assert.deepEqual(restarts.died(300_000), { waitMs: 500, crashLoop: false });
  const slow = new Restarts(PACE);
  for (let minute = 0; minute < 10; minute += 1) slow.died(minute * 61_000);
  assert.deepEqual(slow.died(700_000), { waitMs: 30_000, crashLoop: false }, "once a minute is no crash loop");
});

test("a worker whose handlers cannot be loaded is reported with the reason, and not started for ever", async () => {
  using dir = tempDir();
  writeFileSync(join(dir.path, "handlers.ts"), "export default { broken");
  const config = configIn(dir.path);
  const { log, lines } = noted();
  const pace = { ...PACE, firstMs: 1, longestMs: 1, deaths: 2, windowMs: 600_000, loopMs: 600_000 };
  const env = { PATH: process.env["PATH"], APP_PORT: "0", APP_HANDLERS: "./handlers.ts" };
  const up = await takeUp(config, log, { entry: join(root, "bin/orb"), env, cwd: dir.path }, { pace });
  assert.ok(up !== null);
  try {
    void up.start();
    const child = () => up.state.children.find(({ name }) => name === "worker-1");
    await until(() => child()?.state === "crash_loop", "the worker is given up for now");
    assert.equal(child()?.restarts, 2);
    assert.match(child()?.note ?? "", /handlers\.ts/);
    const loop = lines.find(({ level, message }) => level === "error" && message.startsWith("worker-1"));
    assert.match(loop?.message ?? "", /crashed repeatedly; it is now restarted only every 600 s/);
    assert.match(loop?.why ?? "", /handlers\.ts/);
    await using client = await openClient(config);
    // The API cannot load them either.
    const alert = await until(
      async () => (await client.store.alerts({ limit: 10 })).find(({ subject }) => subject === "worker-1"),
      "it is told",
    );
    assert.deepEqual([alert?.kind, alert?.subject, alert?.delivery], ["crash_loop", "worker-1", "off"]);
    assert.match(alert?.message ?? "", /^Crash loop: worker-1 crashed repeatedly .*handlers\.ts/);
    assert.equal(
      new StateFile(config.dataDir).read()?.children.find(({ name }) => name === "worker-1")?.state,
      "crash_loop",
    );
  } finally {
    await up.stop();
  }
});

test("log files rotate under a child that goes on writing: no line is in two of them, and only so many are kept", async () => {
  using dir = tempDir();
  const config = configIn(dir.path);
  const file = join(config.dataDir, "logs", "worker-1.log");
  const { log } = noted();
  const logRules = { maxBytes: 20_000, keep: 2, lookMs: 5 };
  // Writes numbered lines to its standard error, as a worker does with its log, until there are enough.
  const enough = join(dir.path, "enough");
  writeFileSync(
    join(dir.path, "talks.mjs"),
    `import { existsSync } from "node:fs";
     process.stdout.write('{"role":"engine"}'); let n = 0, last = false;
     setInterval(() => {
       if (last) return;
       last = n % 50 === 0 && existsSync(${JSON.stringify(enough)});
       process.stderr.write("line " + n++ + (last ? " last " : " ") + "x".repeat(90) + "\\n");
     }, 1);`,
  );
  const up = await takeUp(
    config,
    log,
    { entry: join(dir.path, "talks.mjs"), env: process.env, cwd: dir.path },
    { logRules },
  );
  assert.ok(up !== null);
  try {
    void up.start();
    const read = (name: string) => readFileSync(name, "utf8").split("\n").filter(Boolean);
    await until(() => existsSync(`${file}.2`), "several files were filled");
    writeFileSync(enough, "");
    await until(() => {
      try {
        // Nothing is moved any more.
        return (
          statSync(file).size <= logRules.maxBytes &&
          [file, `${file}.1`].flatMap(read).some((line) => / last /.test(line))
        );
      } catch {
        return false;
      }
    }, "the last line is there");
    const numbers = [`${file}.2`, `${file}.1`].flatMap(read).map((line) => Number(line.split(" ")[1]));
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((a, b) => a - b),
      "in their order, each once",
    );
    assert.throws(() => readFileSync(`${file}.3`), /ENOENT/);
  } finally {
    up.hurry();
    await up.stop();
  }
});

describe("services", servicesGate, () => {
  test("a Redis that answers at the configured address is used as it is, and left alone at the end", async () => {
    using dir = tempDir();
    await using theirs = await startRedis();
    const configured = { ...configIn(dir.path), redisUrl: theirs.url };
    const kind = serviceChild(SERVICES.redis, { config: configured, clock: systemClock, before: null });
    const { log } = noted();
    const child = new Child(kind, { clock: systemClock, log, pace: PACE, changed: () => {} });
    await child.start();
    const { state, identity, restarts, port } = child.status;
    assert.deepEqual([state, identity, restarts, port], ["up", null, 0, theirs.port]);
    await child.stop();
    assert.ok(isAlive(theirs.pid));
  });

  test("a program gets the services of its configuration, and leaves none behind", async () => {
    using dir = tempDir();
    const config = configIn(dir.path, { APP_MANAGED_SERVICES: "redis" });
    const file = new StateFile(config.dataDir);
    let pid: number | undefined;
    {
      await using orb = await Orchestrator.start(config, { work: false });
      const [redis] = file.read()?.children ?? [];
      pid = redis?.identity?.pid;
      assert.deepEqual([redis?.name, redis?.state], ["redis", "up"]);
      assert.ok(pid !== undefined && isAlive(pid));
      // Another one in the same place finds it running.
      await using second = await Orchestrator.start(config, { work: true });
      assert.equal(file.read()?.children[0]?.identity?.pid, pid);
      assert.notEqual(orb.role, second.role);
      // An orb up would have to look after the same ones, and says that it does not.
      const env = { PATH: process.env["PATH"] ?? "", APP_PORT: "0", APP_MANAGED_SERVICES: "redis" };
      const said = (word: string[]) => new OrbProcess(["up", ...word], { cwd: dir.path, env }).end();
      const [up, stop] = await Promise.all([said([]), said(["--stop"])]);
      assert.deepEqual([up.code, stop.code], [1, 1], up.stderr + stop.stderr);
      assert.match(
        up.stderr,
        new RegExp(`process ${process.pid}, a program that uses the library, already manages the services`),
      );
      assert.match(stop.stderr, new RegExp(`process ${process.pid}, a program that uses the library`));
      assert.ok(isAlive(pid), "and it goes on");
    }
    assert.ok(!isAlive(pid));
    assert.deepEqual(file.read()?.children, []);
  });
});
