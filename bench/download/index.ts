/** Draining 10,000 small files from a local server: the whole product against a bare undici loop. */
import { fork } from "node:child_process";
import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import { startWorker } from "../../src/app/worker.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { enqueueItems } from "../../src/orchestrator/queue/enqueue.ts";
import { openItems, queueOverview } from "../../src/orchestrator/queue/stats.ts";
import { perSecond, print, race, seconds, verdict } from "../support/measure.ts";

// Files are deleted only at the end: on ext4 deleting thousands slows down the next creations fivefold, for any
// process.
const folders: string[] = [];

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
  folders.push(dir);
  return dir;
}

const FILES = 10_000;
const CONCURRENCY = 32;

/** The bare minimum: fetch, hash, write a file named by its content. */
async function bare(origin: string, options: { store: boolean }): Promise<number> {
  const dir = newFolder();
  const shards = new Set<string>();
  const dispatcher = new Agent({ connections: CONCURRENCY, pipelining: 1 });
  let next = 0;
  const loop = async () => {
    for (let index = next++; index < FILES; index = next++) {
      const { body } = await request(`${origin}/f/${index}`, { dispatcher });
      const bytes = Buffer.from(await body.arrayBuffer());
      if (!options.store) continue;
      const name = hash("sha256", bytes, "hex");
      const shard = name.slice(0, 2);
      if (!shards.has(shard)) mkdirSync(join(dir, shard));
      shards.add(shard);
      writeFileSync(`${dir}/${shard}/${name}`, bytes);
    }
  };
  const took = await seconds(() => Promise.all(Array.from({ length: CONCURRENCY }, loop)));
  await dispatcher.close();
  return FILES / took;
}

async function own(origin: string): Promise<number> {
  const dir = newFolder();
  const { config } = loadConfig({
    cwd: dir,
    env: {
      APP_ALLOW_PRIVATE_NETWORKS: "true",
      APP_MAX_WORKERS: String(CONCURRENCY),
      APP_MAX_PER_HOST: String(CONCURRENCY),
    },
  });
  let left = FILES;
  let allEnded: () => void = () => {};
  const ended = new Promise<void>((resolve) => (allEnded = resolve));
  const worker = await startWorker(config, silentLog, {
    onTask: (_, what) => {
      if (what === "ended" && (left -= 1) === 0) allEnded();
    },
  });
  const items = Array.from({ length: FILES }, (_, index) => ({
    artifactId: `file-${index}`,
    url: `${origin}/f/${index}`,
    concurrencyKey: null,
    priority: 0,
    payload: null,
    handler: null,
  }));
  // The queue is filled first, as by an import; only draining is measured.
  await enqueueItems({ ...worker, wake: async () => {} }, items);
  const took = await seconds(async () => {
    await worker.wake(null);
    await ended;
    while (openItems(await queueOverview(worker, 0)) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
  await worker.stop();
  return FILES / took;
}

export async function run(rounds: number): Promise<boolean> {
  print(`\n${FILES} files of 1 KiB from a local server, ${CONCURRENCY} at a time, median of ${rounds} rounds`);
  const server = fork(fileURLToPath(new URL("server.ts", import.meta.url)));
  const port = await new Promise<number>((resolve) => server.once("message", (value) => resolve(value as number)));
  const origin = `http://127.0.0.1:${port}`;
  const rates = await race(
    {
      orbweaver: () => own(origin),
      stored: () => bare(origin, { store: true }),
      dropped: () => bare(origin, { store: false }),
    },
    rounds,
  );
  server.disconnect();
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
  print(`  orbweaver, durable                    ${perSecond(rates.orbweaver)}`);
  print(`  bare undici loop that stores files    ${perSecond(rates.stored)}`);
  print(`  bare undici loop that drops the bytes ${perSecond(rates.dropped)}`);
  return verdict("against a bare loop that stores files", rates.orbweaver / rates.stored, 0.8);
}
