/**
 * The thread that holds the database connections: one per channel to a store thread, and one for LISTEN. It does nothing
 * else, so that other work of the process never delays an answer.
 */
import type { Duplex } from "node:stream";
import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { systemClock } from "../../base/clock.ts";
import { isConnectionLost, type PlainError, plainError, SETTINGS_LOST } from "./errors.ts";
import { LIMITS } from "./limits.ts";
import { type Answer, answer, type Batch, type ChannelEnds, type Request, type WireValue } from "./sync-channel.ts";

export interface WireData {
  url: string;
  schema: string;
  channels: WireChannel[];
}

/** Of a thread; more of them may be posted later. */
export interface WireChannel {
  end: ChannelEnds["answering"];
  readOnly: boolean;
}

/** Messages of the listening connection to the main thread. */
export type WireMessage = { change: "events" | "control" } | { outage: string | null } | { aheadMs: number };

const CONNECT_MS = 3000;
/**
 * The first connection gets more time than later ones: its failure ends the process, and the server may have just started
 * or run on a busy machine. A refused connection is reported at once.
 */
const FIRST_CONNECT_MS = 60_000;
/**
 * Queries are small and read mostly cached pages: index scans are cheap, JIT compilation is not. It matters most for tables
 * that were just filled and have no statistics yet.
 */
const PLANNING = "-c random_page_cost=1.1 -c jit=off";
/**
 * How often to poll for changes whose notification was missed, so that no other component needs to poll. When the
 * server does not answer this small query in time, it counts as unreachable: all connections are dropped.
 */
const PROBE_MS = 700;
const PROBE_TIMEOUT_MS = 2500;
/** Time limits grow by this factor while this thread is starved of CPU: a server on the same machine is starved, too. */
const STARVED_FACTOR = 6;
const STARVED_LATE_MS = 200;
const STARVED_FOR_MS = 10_000;
const TICK_MS = 250;
const RECONNECT_MS = 500;
/** After a failed connection attempt, requests fail with the same error for this long instead of connecting again. */
const UNREACHABLE_MS = 500;
/** A slower answer does not measure the clock offset precisely enough. */
const MAX_CLOCK_PROBE_MS = 500;
/** Smaller changes of the clock offset are noise, and not posted. */
const CLOCK_NOISE_MS = 100;
/** How long to wait for a connection to close. */
const CLOSE_TIMEOUT_MS = 1000;
/** Notifications are debounced by this. */
const NOTIFY_DEBOUNCE_MS = 20;

const OID = { bool: 16, int8: 20, json: 114, numeric: 1700 };

/** As SQLite returns them: numbers for all numeric types and for booleans. */
const types = {
  getTypeParser(oid: number, format?: string): (text: never) => unknown {
    if (oid === OID.int8 || oid === OID.numeric) return Number;
    if (oid === OID.json) return String;
    if (oid === OID.bool) return (text: string) => (text === "t" ? 1 : 0);
    return pg.types.getTypeParser(oid, format as "text");
  },
};

const { url, schema, channels } = workerData as WireData;

const post = (change: WireMessage) => parentPort?.postMessage(change);
let postedAheadMs = 0;

let wasConnected = false;

let starvedUntil = 0;

/** A timer that fires much too late shows that the machine is overloaded. */
function recordLateness(beganMs: number, wantedMs: number): void {
  const now = performance.now();
  if (now - beganMs - wantedMs > STARVED_LATE_MS) starvedUntil = now + STARVED_FOR_MS;
}

const isStarved = () => performance.now() < starvedUntil;

async function connect(readOnly: boolean): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    types: types as unknown as pg.CustomTypesConfig,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: !wasConnected ? FIRST_CONNECT_MS : CONNECT_MS * (isStarved() ? STARVED_FACTOR : 1),
    application_name: "orbweaver",
    ...LIMITS,
    options: `-c search_path=${schema} -c synchronous_commit=off ${PLANNING} -c default_transaction_read_only=${readOnly ? "on" : "off"}`,
  } as pg.ClientConfig);
  // Every query reports it as well.
  client.on("error", () => {});
  try {
    await client.connect();
    await checkSession(client);
    wasConnected = true;
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
  return client;
}

const NOW = "extract(epoch FROM clock_timestamp()) * 1000 AS now";

/** A pooler may drop our settings, and Postgres skips a schema without USAGE privilege: tables would be missing. */
async function checkSession(client: pg.Client): Promise<void> {
  const [sentAt, startedAt] = [systemClock.now(), systemClock.monotonic()];
  const { rows } = await client.query(
    `SELECT current_setting('search_path') AS path, ${NOW},
       (SELECT has_schema_privilege(oid, 'USAGE')::int FROM pg_catalog.pg_namespace WHERE nspname = $1) AS allowed`,
    [schema],
  );
  const tookMs = systemClock.monotonic() - startedAt;
  const [{ path, allowed, now }] = rows as [{ path: string; allowed: number | null; now: number }];
  if (path.replaceAll('"', "") !== schema) throw new Error(SETTINGS_LOST);
  if (allowed === 0)
    throw Object.assign(new Error(`permission denied for schema ${schema}`), { code: "42501", severity: "ERROR" });
  // Posted in any case: opening the store waits for it.
  if (tookMs < MAX_CLOCK_PROBE_MS) postedAheadMs = now - sentAt - tookMs / 2;
  post({ aheadMs: postedAheadMs });
}

function valueOf(value: WireValue): unknown {
  if (Array.isArray(value)) return value.map((element: WireValue) => valueOf(element));
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

let unreachable: { error: PlainError; until: number } | null = null;

/** Calls queue behind the one in progress: an unreachable server is detected once for all of them. */
async function connectSoon(readOnly: boolean): Promise<pg.Client | PlainError> {
  if (unreachable !== null && performance.now() < unreachable.until) return unreachable.error;
  try {
    const client = await connect(readOnly);
    unreachable = null;
    return client;
  } catch (error) {
    unreachable = { error: plainError(error), until: performance.now() + UNREACHABLE_MS };
    return unreachable.error;
  }
}

class DatabaseSession {
  readonly #readOnly: boolean;
  #client: pg.Client | null = null;

  constructor(readOnly: boolean) {
    this.#readOnly = readOnly;
  }

  async execute({ requests, fresh }: Batch): Promise<Answer[]> {
    if (this.#client === null) {
      if (!fresh) return [{ error: { message: "the connection was lost", code: null } }];
      const connected = await connectSoon(this.#readOnly);
      if (!(connected instanceof pg.Client)) return [{ error: { ...connected, unsent: true } }];
      this.#client = connected;
      connected.once("end", () => this.#lost(connected));
    }
    const client = this.#client;
    const answers = await Promise.all(together(client, () => requests.map((request) => this.#query(client, request))));
    if (answers.some((answer) => "error" in answer && isConnectionLost(answer.error))) this.drop();
    return answers;
  }

  async #query(client: pg.Client, { text, name, values, lists }: Request): Promise<Answer> {
    try {
      const result = await client.query({
        text,
        ...(name === null ? {} : { name, values: values.map(valueOf) }),
        ...(lists ? { rowMode: "array" as const } : {}),
      } as pg.QueryConfig);
      // Postgres answers COMMIT of a failed transaction with ROLLBACK.
      if (text === "COMMIT" && result.command === "ROLLBACK")
        return { error: { message: "the transaction was rolled back: a statement in it had failed", code: "25P02" } };
      return { rows: result.rows, count: result.rowCount ?? 0 };
    } catch (error) {
      return { error: plainError(error) };
    }
  }

  #lost(client: pg.Client): void {
    if (this.#client === client) this.#client = null;
  }

  /** Destroys the connection; pending queries fail at once. */
  drop(): void {
    const client = this.#client;
    this.#client = null;
    if (client !== null) destroy(client);
  }

  async end(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await Promise.race([client?.end().catch(() => {}), pause(CLOSE_TIMEOUT_MS)]);
  }
}

const streamOf = (client: pg.Client) => (client as unknown as { connection: { stream: Duplex } }).connection.stream;

/** All that is sent meanwhile leaves in one packet, not in one for each statement. */
function together<T>(client: pg.Client, send: () => T): T {
  const stream = streamOf(client);
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

function destroy(client: pg.Client): void {
  streamOf(client).destroy(new Error("the database does not answer"));
}

const sessions = new Set<DatabaseSession>();
/** Of threads that have ended. */
const ending = new Set<Promise<void>>();

function serve({ end, readOnly }: WireChannel): void {
  const session = new DatabaseSession(readOnly);
  sessions.add(session);
  end.port.on("message", (batch: Batch | "drop") => {
    if (batch === "drop") return session.drop();
    void session.execute(batch).then((answers) => answer(end, batch.number, answers));
  });
  // The thread has ended.
  end.port.on("close", () => {
    const ended = session.end().then(() => void ending.delete(ended));
    sessions.delete(session);
    ending.add(ended);
  });
}

for (const channel of channels) serve(channel);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const closing = new AbortController();

const CHANGE_KINDS = ["events", "control"] as const;
const queued = new Set<(typeof CHANGE_KINDS)[number]>();

/** Posts the changes of a short time together. */
function queueChange(change: (typeof CHANGE_KINDS)[number]): void {
  if (queued.size === 0)
    setTimeout(() => {
      for (const kind of queued) post({ change: kind });
      queued.clear();
    }, NOTIFY_DEBOUNCE_MS);
  queued.add(change);
}

function queueAllChanges(): void {
  for (const change of CHANGE_KINDS) queueChange(change);
}

class ProbeTimeout extends Error {}

/** Listens for changes of other processes, and probes the server. */
async function listen(): Promise<void> {
  for (let first = true; !closing.signal.aborted; first = false) {
    let client: pg.Client | null = null;
    try {
      client = await connect(true);
      unreachable = null;
      const listening = client;
      client.on("notification", ({ payload }) => queueChange(payload === "control" ? "control" : "events"));
      const gone = new Promise<void>((resolve) => listening.once("end", resolve));
      await client.query(`LISTEN ${pg.escapeIdentifier(schema)}; SET lock_timeout = ${PROBE_TIMEOUT_MS / 2}`);
      post({ outage: null });
      // Notifications in between were missed.
      if (!first) queueAllChanges();
      let seen = await probe(client);
      for (let alive = true; alive && !closing.signal.aborted;) {
        const beganMs = performance.now();
        alive = await Promise.race([pause(PROBE_MS).then(() => true), gone.then(() => false)]);
        if (alive) recordLateness(beganMs, PROBE_MS);
        if (!alive) break;
        const now = await probe(client);
        for (const change of CHANGE_KINDS) if (now?.[change] !== seen?.[change]) queueChange(change);
        seen = now;
      }
    } catch (error) {
      const plain = plainError(error);
      post({ outage: plain.message });
      // Without notifications, listeners have to poll.
      queueAllChanges();
      // The owner of a closed connection notices it; a connection that silently drops packets it does not.
      if (error instanceof ProbeTimeout || client === null) {
        // Until this loop has reached the server again, requests fail at once.
        if (plain.code === null)
          unreachable = { error: plain, until: performance.now() + RECONNECT_MS + CONNECT_MS + UNREACHABLE_MS };
        for (const session of sessions) session.drop();
      }
    }
    if (client !== null) destroy(client);
    if (!closing.signal.aborted) await pause(RECONNECT_MS);
  }
}

const CHANGES = `SELECT (SELECT version FROM control) AS control, (SELECT max(n) FROM events) AS events, ${NOW}`;
/** The tables do not exist yet, or are locked by a migration; both count as answers. */
const NOT_NOW = new Set(["42P01", "55P03"]);

function postClockOffset(aheadMs: number): void {
  if (Math.abs(aheadMs - postedAheadMs) < CLOCK_NOISE_MS) return;
  postedAheadMs = aheadMs;
  post({ aheadMs });
}

/** The versions of what was changed last; null: unknown. */
async function probe(client: pg.Client): Promise<Record<(typeof CHANGE_KINDS)[number], number | null> | null> {
  const [sentAt, startedAt] = [systemClock.now(), systemClock.monotonic()];
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    const fail = () => reject(new ProbeTimeout("the database does not answer"));
    let waitedMs = 0;
    const tick = () => {
      const beganMs = performance.now();
      timer = setTimeout(() => {
        recordLateness(beganMs, TICK_MS);
        waitedMs += TICK_MS;
        if (waitedMs < PROBE_TIMEOUT_MS * (isStarved() ? STARVED_FACTOR : 1)) return tick();
        // Answers that arrived while this thread had no CPU are processed first: then it was not the server that was silent.
        timer = undefined;
        setImmediate(() => setImmediate(fail));
      }, TICK_MS);
    };
    tick();
  });
  try {
    const { rows } = await Promise.race([client.query(CHANGES), timedOut]);
    const tookMs = systemClock.monotonic() - startedAt;
    if (tookMs < MAX_CLOCK_PROBE_MS) postClockOffset(rows[0].now - sentAt - tookMs / 2);
    return rows[0];
  } catch (error) {
    if (NOT_NOW.has((error as { code?: string }).code ?? "")) return null;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

parentPort?.on("message", (message: WireChannel | "close") => {
  if (message !== "close") return serve(message);
  closing.abort();
  void Promise.all([...ending, ...[...sessions].map((session) => session.end())]).then(() => process.exit(0));
});

void listen();
