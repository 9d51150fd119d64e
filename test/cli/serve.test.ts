import assert from "node:assert/strict";
import { connect } from "node:net";
import { once } from "node:events";
import { describe, test } from "node:test";
import { request } from "undici";
import type { QueueItemDetail } from "../../src/orchestrator/queue/items.ts";
import { Orb, type OrbProcess, until } from "../chaos/orb.ts";
import { bodyOf, Target } from "../chaos/target.ts";

interface Server {
  process: OrbProcess;
  url: string;
  port: number;
  post(path: string, body: unknown): Promise<number>;
  item(name: string): Promise<QueueItemDetail>;
}

/** `orb serve` on a free port, once it says where it listens. */
async function serve(orb: Orb, ...args: string[]): Promise<Server> {
  const process = orb.start(["serve", "--port", "0", ...args]);
  await process.said("listening on");
  const url = /listening on (http:\/\/[^"]+)/.exec(process.stderr)?.[1] ?? "";
  return {
    process,
    url,
    port: Number(new URL(url).port),
    post: async (path, body) => {
      const headers = { "content-type": "application/json" };
      const answer = await request(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      await answer.body.dump();
      return answer.statusCode;
    },
    item: async (name) => (await (await request(`${url}/queue/items/${name}`)).body.json()) as QueueItemDetail,
  };
}

const isDone = (server: Server, name: string) =>
  until(async () => (await server.item(name)).status === "done", `${name} is done`);

describe("orb serve", { concurrency: 2 }, () => {
  test("takes items by the API and downloads them, in one process; SIGTERM ends it with 0", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    const server = await serve(orb);
    const listening = server.process.stderr.split("\n").find((line) => line.includes("listening on")) ?? "";
    const { role, database, files } = JSON.parse(listening) as Record<string, string>;
    assert.deepEqual([role, database], ["engine", orb.database]);
    assert.ok(files?.startsWith(orb.dataDir));
    assert.equal(await server.post("/queue/items", { artifact_id: "a", url: target.url("/a") }), 201);
    await isDone(server, "a");
    const [file] = (await server.item("a")).files;
    assert.equal(file?.size, bodyOf("/a").length);
    assert.equal((await request(`${server.url}/ready`)).statusCode, 200);
    server.process.kill("SIGTERM");
    const { code, stdout, stderr } = await server.process.end();
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "");
    await orb.audit();
  });

  test("finishes what is in flight and answers calls that run, but takes no more of either [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb({
      APP_MAX_PER_HOST: "1",
      APP_SHUTDOWN_GRACE_SECONDS: "300",
      APP_HTTP_TIMEOUT_SECONDS: "600",
    });
    const gate = Promise.withResolvers<void>();
    target.script = async (path) => {
      if (path === "/slow") await gate.promise;
      return { body: bodyOf(path) };
    };
    const server = await serve(orb);
    const items = ["slow", "next"].map((name) => ({ artifact_id: name, url: target.url(`/${name}`) }));
    await server.post("/queue/items", { items });
    await target.when(() => target.open === 1, "the slow one is in flight");
    server.process.kill("SIGTERM");
    await server.process.said("stopping");
    const refused = await until(async () => {
      const socket = connect(server.port, "127.0.0.1");
      const why = await Promise.race([
        once(socket, "connect").then(() => null),
        once(socket, "error").then(() => true),
      ]).catch(() => true);
      socket.destroy();
      return why;
    }, "connections are refused");
    assert.equal(refused, true);
    assert.ok(server.process.alive, "it waits for what is in flight");
    gate.resolve();
    assert.equal((await server.process.end()).code, 0);
    const stored = await orb.items();
    assert.deepEqual([stored.get("slow")?.state, stored.get("next")?.state], ["completed", "queued"]);
    await orb.audit();
  });

  test("a second signal ends it at once, and nothing is lost [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    const gate = Promise.withResolvers<void>();
    target.script = async (path, nth) => {
      if (nth === 1) await gate.promise;
      return { body: bodyOf(path) };
    };
    const server = await serve(orb);
    await server.post("/queue/items", { artifact_id: "a", url: target.url("/a") });
    await target.when(() => target.open === 1, "it is in flight");
    server.process.kill("SIGTERM");
    await server.process.said("stopping");
    assert.equal((await server.process.pressed("SIGTERM")).code, 1);
    gate.resolve();
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    assert.equal((await orb.items()).get("a")?.state, "completed");
    await orb.audit();
  });

  test("stands by when another process works, and hands it what comes in [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    const engine = orb.start(["queue", "run"]);
    await engine.said("working on the queue");
    const server = await serve(orb);
    await server.process.said("standing by");
    await server.post("/queue/items", { artifact_id: "a", url: target.url("/a") });
    await isDone(server, "a");
    engine.kill("SIGTERM");
    assert.equal((await engine.end()).code, 0);
    await server.process.said("working on the queue");
    await server.post("/queue/items", { artifact_id: "b", url: target.url("/b") });
    await isDone(server, "b");
  });

  test("--no-worker only answers calls [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    const server = await serve(orb, "--no-worker");
    await server.post("/queue/items", { artifact_id: "a", url: target.url("/a") });
    assert.match(server.process.stderr, /"role":"no worker"/);
    assert.equal((await server.item("a")).status, "queued");
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    assert.equal((await server.item("a")).status, "done");
  });

  test("a port that is taken, an address that needs a token and words that are no port are told with the way out [slow]", async () => {
    await using orb = new Orb();
    const server = await serve(orb, "--no-worker");
    const taken = await orb.run(["serve", "--port", String(server.port)]);
    assert.equal(taken.code, 2);
    assert.match(taken.stderr, new RegExp(`port ${server.port} on 127\\.0\\.0\\.1 is in use[^]*--port`));
    assert.match(taken.stderr, /Orbweaver is already running there[^]*Open http:/);
    assert.ok(!taken.stderr.includes("working on the queue"), "no work was begun");
    const open = await orb.run(["serve", "--host", "0.0.0.0"]);
    assert.equal(open.code, 2);
    assert.match(open.stderr, /APP_API_TOKEN/);
    assert.equal((await orb.run(["serve", "--port", "http"])).code, 2);
    const asJson = await orb.run(["serve", "--port", String(server.port), "--json"]);
    const { error } = JSON.parse(asJson.stdout) as { error: { code: string; fields: { path: string }[] } };
    assert.deepEqual([error.code, error.fields[0]?.path], ["config_invalid", "APP_PORT"]);
  });

  test("with --json standard output says where it listens, and nothing else [slow]", async () => {
    await using orb = new Orb();
    const server = await serve(orb, "--json");
    server.process.kill("SIGINT");
    const { code, stdout } = await server.process.end();
    assert.equal(code, 0);
    const { url, role } = JSON.parse(stdout) as { url: string; role: string };
    assert.deepEqual([url, role], [server.url, "engine"]);
  });
});
