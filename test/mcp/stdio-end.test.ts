import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Orb, until } from "../chaos/orb.ts";
import { Served } from "../chaos/served.ts";
import { root } from "../support/source.ts";
import { startOverStdio } from "./kit.ts";

const LOOPBACK = { APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.1/32" };

const message = (content: object) => `${JSON.stringify({ jsonrpc: "2.0", ...content })}\n`;
const call = (id: number, name: string, args: object = {}) =>
  message({ id, method: "tools/call", params: { name, arguments: args } });
const HELLO =
  message({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agent", version: "1" } },
  }) + message({ method: "notifications/initialized" });

/** A process of `orb mcp` whose pipes a test holds. */
function startRaw(orb: Orb) {
  const child = spawn(process.execPath, [join(root, "bin", "orb"), "mcp"], { cwd: orb.dir, env: orb.env });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on("error", () => {});
  return {
    child,
    ended: once(child, "exit") as Promise<[number | null, string | null]>,
    answered: (id: number) => until(() => said.includes(`"id":${id}`), `answer ${id} is there`),
  };
}

type Raw = ReturnType<typeof startRaw>;

/** What the agent does before it is gone. */
const MOMENTS: Record<string, (raw: Raw) => Promise<unknown>> = {
  "at once": async () => {},
  "while it starts": async ({ child }) => {
    child.stdin.write(HELLO);
  },
  "during a call": async ({ child, answered }) => {
    child.stdin.write(HELLO);
    await answered(1);
    child.stdin.write(call(2, "sites") + call(3, "crawl_start", { url: "http://127.0.0.1:9/" }));
  },
  "while an answer is waited for": async ({ child, answered }) => {
    child.stdin.write(HELLO + call(2, "crawl_start", { url: "http://127.0.0.1:9/" }));
    await answered(2);
    child.stdin.write(call(3, "crawl_status", { wait_seconds: 60 }));
  },
  "after a call": async ({ child, answered }) => {
    child.stdin.write(HELLO + call(2, "sites"));
    await answered(2);
  },
};

/** How it is gone. The last one still has the input open, and gets what it asked for nowhere. */
const WAYS: Record<string, (raw: Raw) => void> = {
  "closes all pipes": ({ child }) => {
    for (const pipe of [child.stdout, child.stderr, child.stdin]) pipe.destroy();
  },
  "ends the input": ({ child }) => child.stdin.end(),
  "reads no more": ({ child }) => {
    child.stdout.destroy();
    child.stdin.write(HELLO + call(9, "sites"));
  },
};

describe("an agent that is gone", () => {
  test("leaves no orb mcp behind, whenever and however it goes, and the server keeps the work", async () => {
    await using orb = new Orb(LOOPBACK);
    const served = await Served.start(orb);
    for (const [moment, prepare] of Object.entries(MOMENTS))
      await Promise.all(
        Object.entries(WAYS).map(async ([way, leave]) => {
          const raw = startRaw(orb);
          try {
            await prepare(raw);
            leave(raw);
            const late = setTimeout(() => raw.child.kill("SIGKILL"), 30_000);
            assert.deepEqual(await raw.ended, [0, null], `${moment}, it ${way}`);
            clearTimeout(late);
          } finally {
            raw.child.kill("SIGKILL");
          }
        }),
      );
    const workers = await orb.json<{ command: string; role: string }[]>("workers", "list");
    assert.deepEqual(
      workers.map(({ command, role }) => [command, role]),
      [["serve", "engine"]],
    );
    await served.terminated();
  });
});

describe("orb mcp beside a server on the same database", () => {
  const roles = async (orb: Orb) => {
    const workers = await orb.json<{ command: string; role: string }[]>("workers", "list");
    return Object.fromEntries(workers.map(({ command, role }) => [command, role]));
  };
  const serverWorks = (orb: Orb) =>
    until(async () => {
      const { mcp, serve } = await roles(orb);
      return mcp === "standby" && serve === "engine";
    }, "the server works, and the agent's tool stands by");

  test("works while there is none, leaves the work to one that comes, and does not take it while that is restarted", async () => {
    await using orb = new Orb(LOOPBACK);
    await using started = await startOverStdio(orb, { modern: true });
    await until(async () => (await roles(orb))["mcp"] === "engine", "the agent's tool works");
    const first = await Served.start(orb);
    await serverWorks(orb);
    await first.terminated();
    const second = await Served.start(orb);
    assert.match(second.process.stderr, /"role":"engine"/);
    await serverWorks(orb);
    await second.killed();
    const third = await Served.start(orb);
    await serverWorks(orb);
    await started.agent.ok("sites");
    await third.terminated();
  });
});
