/** Latency of `POST /jobs/{id}/runs`, and of writing an event, while 50 runs execute. */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { startServer } from "../../src/app/server.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { median, print } from "../support/measure.ts";

const POSTS = 1500;
const CALLERS = 8;
const EXECUTING = 50;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const start = (file: string) => fork(fileURLToPath(new URL(file, import.meta.url)));
const heard = <T>(child: ChildProcess) =>
  new Promise<T>((resolve, reject) => {
    child.once("message", (value) => resolve(value as T));
    child.once("exit", (code) => reject(new Error(`a process of the benchmark ended with ${code}`)));
  });

async function measure(): Promise<{ posts: number[]; appends: number[] }> {
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
  const { config } = loadConfig({
    cwd: dir,
    env: {
      APP_PORT: "0",
      APP_ALLOW_PRIVATE_NETWORKS: "true",
      APP_MAX_WORKERS: String(EXECUTING),
      APP_MAX_PER_HOST: String(EXECUTING),
      APP_SHUTDOWN_GRACE_SECONDS: "0",
    },
  });
  const site = start("site.ts");
  const callers = start("callers.ts");
  const server = await startServer(config, silentLog, { version: "bench", worker: true });
  const post = async (path: string, body?: unknown): Promise<{ id: string }> => {
    const answer = await request(`${server.url}${path}`, {
      method: "POST",
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    return (await answer.body.json()) as { id: string };
  };
  try {
    const port = await heard<number>(site);
    const target = `http://127.0.0.1:${port}/`;
    const job = await post("/jobs", { target_url: target, strategy: "http", fields: ["title", "markdown"] });
    // Fill all slots before the clock starts.
    for (let count = 0; count < EXECUTING * 2; count += 1) await post(`/jobs/${job.id}/runs`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    callers.send({ url: server.url, jobId: job.id, posts: POSTS, callers: CALLERS });
    const answered = heard<number[]>(callers);
    const appends = await appendUntil(join(dir, "data", "orb.db"), answered);
    return { posts: await answered, appends };
  } finally {
    callers.kill();
    site.kill();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Events written by the server's process (a run is paused and resumed), as its own work writes them. */
async function appendUntil(path: string, over: Promise<unknown>): Promise<number[]> {
  const store = openSqliteStore({ path, clock: systemClock });
  const run = await store.openRun({ kind: "crawl", maxAttempts: null, snapshot: null }, Date.now());
  // A site that is never requested: the run does not change.
  const task = { key: "x", lane: "site:paused.invalid", site: "paused.invalid", resolver: null, url: null };
  await store.setSite("paused.invalid", { paused: true });
  await store.enqueue(run.id, [{ ...task, priority: 0, handler: null, payload: null }], Date.now());
  await store.changeRun(run.id, "running", "Run started", Date.now());
  const appends: number[] = [];
  const end = new AbortController();
  over.finally(() => end.abort()).catch(() => {});
  for (let count = 0; !end.signal.aborted; count += 1) {
    const begun = performance.now();
    await store.changeRun(run.id, count % 2 === 0 ? "paused" : "running", "an event", Date.now());
    appends.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await store.close();
  return appends;
}

export async function run(rounds: number, { part, only }: { part?: string; only?: string } = {}): Promise<boolean> {
  if (part === "stalls") return (await import("./stalls.ts")).run(rounds, only);
  print(
    `\n${POSTS} × POST /jobs/{id}/runs by ${CALLERS} callers, SQLite, ${EXECUTING} runs executing, median of ${rounds} rounds`,
  );
  const all: { posts: number[]; appends: number[] }[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measure());
  const of = (pick: (one: (typeof all)[number]) => number) => median(all.map(pick));
  const p99 = of(({ posts }) => quantile(posts, 0.99));
  const append = of(({ appends }) => quantile(appends, 0.99));
  print(`  post    p50 ${of(({ posts }) => quantile(posts, 0.5)).toFixed(1)} ms  p99 ${p99.toFixed(1)} ms`);
  print(`  append  p50 ${of(({ appends }) => quantile(appends, 0.5)).toFixed(2)} ms  p99 ${append.toFixed(2)} ms`);
  return [below("POST p99", p99, 50), below("event append p99", append, 10)].every(Boolean);
}

export function below(name: string, value: number, wanted: number): boolean {
  const good = value < wanted;
  print(`${good ? "reached" : "MISSED "}  ${name}: ${value.toFixed(2)} ms (wanted < ${wanted} ms)`);
  return good;
}
