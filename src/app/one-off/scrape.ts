/** A temporary installation: a store in memory, a folder for files, and a worker. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningWorker, startWorker, type WorkerHooks } from "../worker.ts";
import { type Client, openClient } from "../context.ts";
import { systemClock } from "../../base/clock.ts";
import { isOrbError, OrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/options.ts";
import type { PageStrategy } from "../../fetch/page.ts";
import { fileAnswer, type FileInput } from "../../orchestrator/read-file.ts";
import { createPageTools, type PageTools } from "../page-tools.ts";
import { mayBeUsed } from "../../domain/proxy/proxy-score.ts";
import { upstreamOf } from "../../proxies/sealed-upstream.ts";
import { openSeal } from "../secret-key.ts";
import type { SessionRecord } from "../../store/records/job-records.ts";
import type { Store } from "../../store/ports/port.ts";
import type { ProxyRecord } from "../../store/ports/proxy-port.ts";
import { openSqliteStore } from "../../store/sqlite/store.ts";

interface Scratch extends RunningWorker {
  /** The id of the requested session in this store; null: none requested. */
  readonly sessionId: string | null;
}

interface ScratchOptions extends Pick<WorkerHooks, "reader"> {
  sessionId?: string;
  /** Use proxies of the pool. */
  pool?: boolean;
  /** Plain requests are answered with this file. */
  file?: FileInput;
}

/** Changes nothing in the installation; reads the named session and the proxies from it. */
export async function startScratch(config: Config, log: Log, options: ScratchOptions = {}): Promise<Scratch> {
  const session = options.sessionId === undefined ? null : await sessionOf(config, options.sessionId);
  const proxies = options.pool === true ? await proxiesOf(config) : [];
  const dir = mkdtempSync(join(tmpdir(), "orb-scrape-"));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  let client: Client | null = null;
  try {
    const scrapeConfig: Config = {
      ...config,
      dataDir: dir,
      // Only sets the location of the engine's socket: the store itself is in memory.
      database: { kind: "sqlite", path: join(dir, "orb.db") },
      artifacts: { kind: "local", path: join(dir, "files") },
      secretKey: randomBytes(32).toString("hex"),
      // No alerts: the caller sees the outcome.
      alertWebhookUrl: null,
      minProxies: 0,
      proxyRefreshMs: 0,
    };
    const store = openSqliteStore({ path: ":memory:", clock: systemClock });
    // A stored session and the proxies stay sealed under the installation's key.
    const seal = openSeal(session === null && proxies.length === 0 ? scrapeConfig : config);
    const opened = await openClient(scrapeConfig, systemClock, { store, seal });
    await copyProxies(store, proxies);
    const created = session === null ? null : (await store.createSession(session, systemClock.now())).created;
    client = opened;
    const tools = options.file === undefined ? null : toolsFor(options.file, scrapeConfig, log, opened);
    const worker = await startWorker(scrapeConfig, log, {
      client: opened,
      ...(tools === null ? {} : { tools }),
      ...(options.reader === undefined ? {} : { reader: options.reader }),
    });
    const stop = () =>
      worker
        .stop()
        .finally(() => tools?.close())
        .finally(() => opened.close())
        .finally(remove);
    return Object.defineProperties({} as Scratch, {
      ...Object.getOwnPropertyDescriptors(worker),
      sessionId: { value: created?.id ?? null },
      stop: { value: stop },
      close: { value: stop },
      [Symbol.asyncDispose]: { value: stop },
    });
  } catch (error) {
    await client?.close();
    remove();
    throw error;
  }
}

function toolsFor(file: FileInput, config: Config, log: Log, client: Client): PageTools {
  const tools = createPageTools(config, log, client);
  const http: PageStrategy = { name: "http", fetch: async () => fileAnswer(file) };
  return { ...tools, strategies: { ...tools.strategies, http } };
}

async function sessionOf(config: Config, id: string): Promise<SessionRecord> {
  await using client = await openClient(config);
  const session = await client.store.session(id);
  if (session !== null) {
    await client.store.noteSessionUse(session.id, systemClock.now());
    return session;
  }
  const fields = [{ path: "session", message: "there is no session with this id or name" }];
  throw new OrbError("input_invalid", `--session: there is no session with the id or name ${id}`, {
    fields,
    hint: "orb sessions list shows all sessions.",
  });
}

const MOST_LENT = 10_000;

/** Usable proxies; while none is known to be, those that may be. */
async function proxiesOf(config: Config): Promise<ProxyRecord[]> {
  await using client = await openClient(config);
  const now = systemClock.now();
  const limit = MOST_LENT;
  const usable = await client.store.proxies({ state: "usable", limit });
  const all = usable.length > 0 ? usable : await client.store.proxies({ limit });
  const best = all.filter((record) => mayBeUsed(record, now));
  if (best.length > 0) return fromFirstOpen(client.seal, best);
  throw new OrbError("input_invalid", "--proxy pool: the pool has no usable proxy now", {
    fields: [{ path: "proxy", message: "the pool has no usable proxy now" }],
    hint: "Add some with orb proxies import; orb proxies list shows all.",
  });
}

/** All have one key, so the first that opens proves it; the pool skips the others. */
function fromFirstOpen(seal: Seal, proxies: readonly ProxyRecord[]): ProxyRecord[] {
  let wrong: unknown;
  for (const [index, proxy] of proxies.entries()) {
    try {
      upstreamOf(seal, proxy);
      return proxies.slice(index);
    } catch (error) {
      if (!isOrbError(error, "secret_key_wrong")) throw error;
      wrong = error;
    }
  }
  throw wrong;
}

/** Used unchecked: a single scrape does not wait for a check. */
async function copyProxies(store: Store, proxies: readonly ProxyRecord[]): Promise<void> {
  if (proxies.length === 0) return;
  const now = systemClock.now();
  await store.addProxies(
    proxies.map((proxy) => ({ ...proxy, userHash: proxy.id, passwordHash: "" })),
    now,
  );
  const lent = await store.proxies({ limit: proxies.length });
  const outcome = { kind: "good", latencyMs: null } as const;
  await store.noteProxies(
    lent.map(({ id }) => ({ id, outcome, at: now, site: null })),
    now,
  );
}
