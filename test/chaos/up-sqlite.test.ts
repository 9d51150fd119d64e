import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isAlive, treeOf } from "../fetch/browser/processes.ts";
import { Orb, report, until } from "./orb.ts";
import { Target } from "./target.ts";
import { isDone, type Told, Upped } from "./upped.ts";

describe("orb up on SQLite alone", () => {
  test("runs the API and a worker; another terminal looks at them and stops them", async () => {
    await using target = await Target.start(1);
    await using up = await Upped.start({ APP_UP_WORKERS: "2" });
    const told = await up.orb.json<Told>("up", "--status");
    assert.deepEqual(
      told.processes.map(({ name, state }) => [name, state]),
      [
        ["worker-1", "up"],
        ["worker-2", "up"],
        ["api", "up"],
      ],
    );
    await up.orb.import([{ artifact_id: "one", url: target.url("/one") }]);
    await until(async () => isDone(await up.orb.items(), 1), "the item is done");
    const family = treeOf(up.process.pid).map(({ pid }) => pid);
    assert.deepEqual(await up.orb.json("up", "--stop"), { stopped: true });
    assert.equal((await up.process.end()).code, 0);
    await until(() => !family.some(isAlive), "nothing is left of it");
    const over = await up.orb.run(["up", "--status", "--json"]);
    assert.deepEqual([over.code, JSON.parse(over.stdout)], [1, { running: false, pid: null, processes: [] }]);
  });

  test("a worker that hangs is found, ended and replaced, and its work goes on", async () => {
    await using target = await Target.start(1);
    await using up = await Upped.start();
    const worker = up.pid("worker-1");
    process.kill(worker, "SIGSTOP");
    const frozen = Date.now();
    await up.orb.import([{ artifact_id: "one", url: target.url("/one") }]);
    await up.replaced("worker-1", worker);
    report("a frozen worker was replaced", { ms: Date.now() - frozen });
    assert.ok(!isAlive(worker));
    await until(async () => isDone(await up.orb.items(), 1), "the item is done");
    assert.match(up.process.stderr, /worker-1 does not answer \(no heartbeat, and no answer to a ping within 5 s\)/);
    assert.equal((await up.stopped()).code, 0);
  });

  test("a second signal stops at once, and leaves nothing either", async () => {
    await using target = await Target.start(1);
    const { promise: forever } = Promise.withResolvers<never>();
    target.script = () => forever;
    await using up = await Upped.start({ APP_SHUTDOWN_GRACE_SECONDS: "60" });
    await up.orb.import([{ artifact_id: "one", url: target.url("/one") }]);
    await target.when(() => target.open === 1, "the item is in flight");
    const family = treeOf(up.process.pid).map(({ pid }) => pid);
    up.process.kill("SIGTERM");
    await up.process.said("press Ctrl-C again to stop at once");
    assert.equal((await up.process.pressed("SIGTERM")).code, 1);
    await until(() => !family.some(isAlive), "nothing is left of it");
  });

  test("an API whose port is somebody else's is not said to be started, and what helps is said", async () => {
    await using target = await Target.start(1);
    const port = new URL(target.url("/")).port;
    await using orb = new Orb({ APP_PORT: port, APP_UP_WORKERS: "0" });
    const up = orb.start(["up"]);
    await up.said("no process started");
    assert.match(up.stderr, new RegExp(`api could not be started .*port ${port} on 127.0.0.1 is in use.*APP_PORT`));
    assert.doesNotMatch(up.stderr, /all processes started/);
    up.kill("SIGTERM");
    await up.end();
  });

  test("a service that is not installed is named, and nothing is begun", async () => {
    await using orb = new Orb({ APP_MANAGED_SERVICES: "redis", PATH: "/nowhere" });
    const { code, stderr } = await orb.run(["up"]);
    assert.equal(code, 1);
    assert.match(stderr, /APP_MANAGED_SERVICES contains redis, but redis-server is not on the PATH/);
    assert.match(stderr, /apt-get install redis-server/);
  });
});
