import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { mayBeAlive, ownIdentity } from "../../src/base/machine.ts";
import { Orb } from "../chaos/orb.ts";

const LINUX = { skip: process.platform === "linux" ? false : "knows processes by /proc" };

test("this process is alive, and is the same at every look", () => {
  assert.deepEqual(ownIdentity(), ownIdentity());
  assert.equal(mayBeAlive(ownIdentity()), true);
});

test("a process that has ended is not alive, nor is another one that got its number", LINUX, () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  assert.equal(mayBeAlive({ ...ownIdentity(), pid }), false);
  const { pidStart } = ownIdentity();
  assert.equal(mayBeAlive({ ...ownIdentity(), pidStart: pidStart.replace(/^\d+/, "1") }), false);
});

test("what another machine's or another container's process does cannot be known from here", () => {
  assert.equal(mayBeAlive({ ...ownIdentity(), boot: "another", pid: 2 ** 22 }), true);
  assert.equal(mayBeAlive({ ...ownIdentity(), pid: 2 ** 22, pidStart: "1@pid:[1]" }), true);
});

const UNSHARE = ["-Urpf", "--mount-proc", "--kill-child"];
const containers = process.platform === "linux" && spawnSync("unshare", [...UNSHARE, "true"]).status === 0;

test(
  "a second engine in another container stands by, and does not take the first one's place [slow]",
  { skip: containers ? false : "this machine makes no containers" },
  async () => {
    await using orb = new Orb({ APP_DEFAULT_MAX_ATTEMPTS: "1" });
    await orb.json("queue", "enqueue", "waits", "http://127.0.0.1:9/");
    await orb.json("sites", "pause", "127.0.0.1:9");
    const first = orb.start(["queue", "run"]);
    await first.said("working on the queue");
    const second = orb.start(["queue", "run", "--drain"], { through: ["unshare", ...UNSHARE] });
    await second.said("standing by");
    first.kill("SIGTERM");
    assert.equal((await first.end()).code, 0);
    await second.said("working on the queue");
    await orb.json("sites", "resume", "127.0.0.1:9");
    assert.equal((await second.end()).code, 3);
  },
);
