/** How long a caller waits for `POST /jobs/{id}/runs`, and a writer for its event, while 50 runs execute. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import { systemClock } from "../../src/base/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { median, print } from "../support/measure.ts";

const POSTS = 1500;
const CALLERS = 8;
const EXECUTING = 50;
const APPENDS = 500;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

async function startSite(): Promise<{ child: ChildProcess; origin: string }> {
  const child = fork(fileURLToPath(new URL("site.ts", import.meta.url)));
  const port = await new Promise<number>((resolve) => child.once("message", (value) => resolve(value as number)));
  return { child, origin: `http://127.0.0.1:${port}` };
}

async function startServer(dir: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../../bin/orb", import.meta.url)), "serve", "--json"], {
    cwd: dir,
    env: {
      ...process.env,
      APP_PORT: "0",
      APP_ALLOW_PRIVATE_NETWORKS: "true",
      APP_MAX_WORKERS: String(EXECUTING),
      APP_MAX_PER_HOST: String(EXECUTING),
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error("the server did not start")));
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const found = /"url": "([^"]+)"/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, url };
}

async function measure(): Promise<{ posts: number[]; appends: number[] }> {
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
  const site = await startSite();
  const server = await startServer(dir);
  const dispatcher = new Agent({ connections: CALLERS, pipelining: 1 });
  const post = async (path: string, body?: unknown): Promise<{ id: string }> => {
    const answer = await request(`${server.url}${path}`, {
      method: "POST",
      dispatcher,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${await answer.body.text()}`);
    return (await answer.body.json()) as { id: string };
  };
  try {
    const job = await post("/jobs", { target_url: `${site.origin}/`, strategy: "http", fields: ["title", "markdown"] });
    // All places are taken before the clock starts.
    for (let count = 0; count < EXECUTING * 2; count += 1) await post(`/jobs/${job.id}/runs`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const posts: number[] = [];
    let left = POSTS;
    const caller = async () => {
      while (left-- > 0) {
        const begun = performance.now();
        await post(`/jobs/${job.id}/runs`);
        posts.push(performance.now() - begun);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    return { posts, appends: await measureAppends(join(dir, "data", "orb.db")) };
  } finally {
    await dispatcher.destroy();
    const gone = new Promise((resolve) => server.child.once("exit", resolve));
    server.child.kill("SIGTERM");
    server.child.kill("SIGTERM");
    await gone;
    site.child.disconnect();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Another process writes events (a run is paused and resumed) while the server goes on settling its 50 pages. */
async function measureAppends(path: string): Promise<number[]> {
  const store = openSqliteStore({ path, clock: systemClock });
  const run = await store.openRun({ kind: "crawl", maxAttempts: null, snapshot: null }, Date.now());
  // A site that is never asked: the run stays as it is.
  const task = { key: "x", lane: "site:paused.invalid", site: "paused.invalid", resolver: null, url: null };
  await store.setSite("paused.invalid", { paused: true });
  await store.enqueue(run.id, [{ ...task, priority: 0, handler: null, payload: null }], Date.now());
  await store.changeRun(run.id, "running", "Run started", Date.now());
  const appends: number[] = [];
  for (let count = 0; count < APPENDS; count += 1) {
    const begun = performance.now();
    await store.changeRun(run.id, count % 2 === 0 ? "paused" : "running", "an event", Date.now());
    appends.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await store.close();
  return appends;
}

export async function run(rounds: number): Promise<boolean> {
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

function below(name: string, value: number, wanted: number): boolean {
  const good = value < wanted;
  print(`${good ? "reached" : "MISSED "}  ${name}: ${value.toFixed(2)} ms (wanted < ${wanted} ms)`);
  return good;
}
