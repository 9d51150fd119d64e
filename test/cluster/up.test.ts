import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { report, until } from "../chaos/orb.ts";
import { listens, Upped } from "../chaos/upped.ts";
import { CheckedApi } from "../jobs/answers.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Web } from "./kit.ts";

describe("orb up with a Postgres and a Redis of its own", servicesGate, () => {
  let up: Upped;

  before(async () => {
    const env = { APP_MANAGED_SERVICES: "redis,postgres", APP_UP_WORKERS: "2", APP_RESPECT_ROBOTS: "false" };
    up = await Upped.start(env);
  });

  after(async () => {
    await up?.[Symbol.asyncDispose]();
  });

  test("all of its workers work, and commands from any terminal find the same data", async () => {
    await using web = await Web.start({ sites: 4, pages: 5, latencyMs: 20 });
    const api = await CheckedApi.open(up.url);
    const health = (await api.get("/health")).json<{ database: string; engine: string }>();
    assert.deepEqual([health.database, health.engine], ["postgres", "bullmq"]);
    const ready = (await api.get("/ready")).json<{ status: string; checks: { name: string; message?: string }[] }>();
    assert.equal(ready.status, "ready", JSON.stringify(ready));
    assert.match(ready.checks.find(({ name }) => name === "redis")?.message ?? "", /^Redis \d/);
    await api.close();

    const urls = web.target.sites.map((_, site) => web.target.url("/", site));
    const words = ["crawl", ...urls, "--max-pages", "1000", "--format", "jsonl", "--out", "found.jsonl"];
    const crawled = await up.orb.run([...words, "--json"]);
    assert.equal(crawled.code, 0, crawled.stderr);
    assert.equal((JSON.parse(crawled.stdout) as { completed_items: number }).completed_items, web.urls().length);
    const workers =
      await up.orb.json<{ command: string; engine: string; database: string; completed: number }[]>("workers");
    assert.deepEqual(
      workers.map(({ command, engine, database }) => `${command}: ${engine}, ${database}`),
      ["worker: bullmq, postgres", "worker: bullmq, postgres"],
      "the crawl was left to those who are there for it",
    );
    report("done by each", Object.fromEntries(workers.map(({ completed }, n) => [`worker ${n + 1}`, completed])));
    const checks = await up.orb.json<{ checks: { name: string; status: string; what: string }[] }>("doctor");
    for (const name of ["database", "redis", "engine"])
      assert.ok(
        checks.checks.some((check) => check.name === name && check.status === "ok"),
        JSON.stringify(checks),
      );
    await up.orb.audit();
  });

  test("a service that dies keeps its port; when somebody else has taken that, all others follow it", async () => {
    const ports = () => ["redis", "postgres"].map((name) => ({ name, port: portOf(up, name) }));
    let services = ports();
    const killed = () =>
      services.map(({ name }) => {
        const pid = up.pid(name);
        process.kill(pid, "SIGKILL");
        return [name, pid] as const;
      });
    for (const [name, pid] of killed()) await renewed(up, name, pid);
    for (const { name, port } of services)
      // Unless another test has taken it just then.
      assert.ok(portOf(up, name) === port || (await listens(port)), `${name} keeps its port`);

    const others = ["worker-1", "worker-2", "api"].map((name) => [name, up.pid(name)] as const);
    services = ports();
    await using strangers = new AsyncDisposableStack();
    // It must not be faster than they are.
    up.process.kill("SIGSTOP");
    const gone = killed();
    for (const { port } of services) strangers.use(await listenerOn(port));
    up.process.kill("SIGCONT");
    for (const [name, pid] of [...gone, ...others]) await renewed(up, name, pid);
    for (const { name, port } of services) assert.notEqual(portOf(up, name), port);
    await using web = await Web.start({ sites: 1, pages: 3 });
    const crawled = await up.orb.run(["crawl", web.target.url("/", 0), "--json"]);
    assert.equal(crawled.code, 0, crawled.stderr);
    assert.equal((JSON.parse(crawled.stdout) as { completed_items: number }).completed_items, 3);
  });

  test("when it has stopped nothing is left of it, and commands say that it does not run", async () => {
    assert.equal((await up.stopped()).code, 0);
    const { code, stderr } = await up.orb.run(["runs", "list"]);
    assert.equal(code, 1);
    assert.match(stderr, /the managed postgres of .* is not running/);
    assert.match(stderr, /orb up/);
  });
});

/** Resolves when another process than this one is up under that name. */
const renewed = (up: Upped, name: string, pid: number) =>
  until(
    () =>
      up.state().children.some((child) => child.name === name && child.state === "up" && child.identity?.pid !== pid),
    `another ${name} than ${pid} is up`,
  ).catch((error: unknown) => {
    throw new Error(up.process.story(), { cause: error });
  });

const portOf = (up: Upped, name: string) => up.state().children.find((child) => child.name === name)?.port ?? 0;

/** Somebody else who takes a port as soon as it is free; another test may have been faster. */
async function listenerOn(port: number): Promise<AsyncDisposable> {
  const server = createServer((socket) => socket.destroy());
  const takes = () =>
    new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
  const mine = await until(takes, `port ${port} is free`, 20_000).catch(() => false);
  if (!mine) assert.ok(await listens(port), `somebody has taken port ${port}`);
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) };
}
