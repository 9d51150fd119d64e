/** A place to work in that is gone afterwards: a store in memory, a folder for files, and a worker of its own. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningWorker, startWorker } from "./app.ts";
import { type Client, openClient } from "./client.ts";
import { systemClock } from "./base/clock.ts";
import { OrbError } from "./base/errors.ts";
import type { Log } from "./base/log.ts";
import type { Config } from "./config/options.ts";
import { openSeal } from "./secret-key.ts";
import type { SessionRecord } from "./store/job-records.ts";
import { openSqliteStore } from "./store/sqlite/store.ts";

export interface Scratch extends RunningWorker {
  /** What the session that was asked for is called here; null: none was. */
  readonly sessionId: string | null;
}

/** Nothing of the installation is touched; a session that is named is read from it. */
export async function startScratch(config: Config, log: Log, options: { sessionId?: string } = {}): Promise<Scratch> {
  const session = options.sessionId === undefined ? null : await sessionOf(config, options.sessionId);
  const dir = mkdtempSync(join(tmpdir(), "orb-scrape-"));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  let client: Client | null = null;
  try {
    const own: Config = {
      ...config,
      dataDir: dir,
      // Names the place of the engine's socket only: the store itself is in memory.
      database: { kind: "sqlite", path: join(dir, "orb.db") },
      artifacts: { kind: "local", path: join(dir, "files") },
      secretKey: randomBytes(32).toString("hex"),
      // Whoever asked for the page sees what became of it.
      alertWebhookUrl: null,
    };
    const store = openSqliteStore({ path: ":memory:", clock: systemClock });
    // A stored session stays sealed under the installation's key.
    const seal = openSeal(session === null ? own : config);
    const opened = await openClient(own, systemClock, { store, seal });
    const made = session === null ? null : (await store.createSession(session, systemClock.now())).made;
    client = opened;
    const worker = await startWorker(own, log, { client: opened });
    const stop = () =>
      worker
        .stop()
        .finally(() => opened.close())
        .finally(remove);
    return Object.defineProperties({} as Scratch, {
      ...Object.getOwnPropertyDescriptors(worker),
      sessionId: { value: made?.id ?? null },
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

async function sessionOf(config: Config, id: string): Promise<SessionRecord> {
  await using client = await openClient(config);
  const session = await client.store.session(id);
  if (session !== null) return session;
  const fields = [{ path: "session", message: "there is no session with this id" }];
  throw new OrbError("input_invalid", `--session: there is no session with the id ${id}`, {
    fields,
    hint: "orb sessions list shows those there are.",
  });
}
