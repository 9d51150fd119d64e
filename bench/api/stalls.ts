/**
 * The longest event-loop turn while a single request, or a single step, has its maximum size, as CPU time of its
 * thread: other load on the machine does not count.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { median, print } from "../support/measure.ts";
import { below } from "./index.ts";

const WANTED_MS = 50;

interface Call {
  path: string;
  body: string;
  /** Concurrent repetitions. */
  times?: number;
  /** Runs until the created workflow has this many entries. */
  entries?: number;
}

const step = (name: string, more: object) => ({ name, task_type: "wait", params: { seconds: 3600 }, ...more });

const CALLS: Readonly<Record<string, () => Call>> = {
  "for_each of 49,000 entries": () => ({
    path: "/workflows",
    body: JSON.stringify({
      definition: {
        name: "Long list",
        params: { type: "object", properties: { list: { type: "array" } } },
        steps: [step("each", { for_each: { in: "${{ params.list }}" } })],
      },
      params: { list: Array.from({ length: 49_000 }, (_, n) => `https://example.com/pages/${n}`) },
    }),
    entries: 49_000,
  }),
  "preview of 15 MB": () => ({
    path: "/extract/preview",
    body: JSON.stringify({ html: "<p>words</p>".repeat(1_300_000), fields: ["title"] }),
  }),
  "400 steps with 50 dependencies each": () => ({
    path: "/workflows",
    body: JSON.stringify({
      definition: {
        name: "Many dependencies",
        steps: Array.from({ length: 400 }, (_, n) =>
          step(`s${n}`, { dependencies: Array.from({ length: Math.min(50, n) }, (__, k) => n - 1 - k) }),
        ),
      },
    }),
  }),
  "1,000 steps that begin at once": () => ({
    path: "/workflows",
    body: JSON.stringify({
      definition: { name: "Wide", steps: Array.from({ length: 1000 }, (_, n) => step(`s${n}`, {})) },
    }),
  }),
  "1,000 runs at once": () => ({
    path: "/workflows",
    body: JSON.stringify({ definition: { name: "One", steps: [step("one", {})] } }),
    times: 1000,
  }),
};

async function post(url: string, { path, body }: Call): Promise<{ id?: string }> {
  const answer = await request(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return (await answer.body.json()) as { id?: string };
}

async function get<T>(url: string): Promise<T> {
  return (await (await request(url)).body.json()) as T;
}

async function done(url: string, call: Call): Promise<void> {
  const created = await Promise.all(Array.from({ length: call.times ?? 1 }, () => post(url, call)));
  for (let total = 0; total < (call.entries ?? 0);) {
    const task = await get<{ entries: { total: number } | null }>(`${url}/workflows/${created[0]?.id}/tasks/each`);
    total = task.entries?.total ?? 0;
  }
}

async function measure(call: Call): Promise<number> {
  const server = fork(fileURLToPath(new URL("stalls-server.ts", import.meta.url)));
  const [url] = (await once(server, "message")) as [string];
  try {
    // Warm up: lazy loading and compiling are not measured.
    await post(url, {
      path: "/workflows",
      body: JSON.stringify({ definition: { name: "First", steps: [step("a", {})] } }),
    });
    await post(url, { path: "/extract/preview", body: JSON.stringify({ html: "<p>first</p>", fields: ["title"] }) });
    server.send("begin");
    await once(server, "message");
    await done(url, call);
    server.send("end");
    const [longest] = (await once(server, "message")) as [number];
    return longest;
  } finally {
    server.send("stop");
    await once(server, "exit");
  }
}

export async function run(rounds: number, only?: string): Promise<boolean> {
  print(
    `\nthe longest turn of the server's event loop while a request or a step is large (CPU time), median of ${rounds} rounds`,
  );
  const reached: boolean[] = [];
  for (const [name, call] of Object.entries(CALLS)) {
    if (only !== undefined && !name.includes(only)) continue;
    const longest: number[] = [];
    for (let round = 0; round < rounds; round += 1) longest.push(await measure(call()));
    reached.push(below(name, median(longest), WANTED_MS));
    print(`         ${longest.map((ms) => ms.toFixed(1)).join(", ")}`);
  }
  return reached.every(Boolean);
}
