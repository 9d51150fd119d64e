/**
 * The thread that speaks with the database: one connection for every line to a thread that asks, and one that listens.
 * It does nothing else, so that an answer is never kept waiting by other work of the process.
 */
import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { systemClock } from "../../base/clock.ts";
import { isConnectionLost, type PlainError, plainError, SETTINGS_LOST } from "./errors.ts";
import { type Answer, answer, type Batch, type LineEnds, type Request, type WireValue } from "./line.ts";

export interface WireData {
  url: string;
  schema: string;
  lines: { end: LineEnds["answering"]; readOnly: boolean }[];
}

/** What the listening connection tells. */
export type WireNews = { news: "events" | "control" } | { trouble: string | null } | { aheadMs: number };

const CONNECT_MS = 3000;
/**
 * Until the first connection stands, nobody waits for an answer that must come soon, and giving up ends the process: a
 * server that has just started, or whose machine is busy, gets more time. One that refuses is reported at once.
 */
const FIRST_CONNECT_MS = 60_000;
/** Beyond these the server ends what we asked for; a transaction that stands still holds up everybody's writing. */
const LIMITS = { statement_timeout: 60_000, lock_timeout: 15_000, idle_in_transaction_session_timeout: 5000 };
/**
 * Questions are small, and what they read is mostly in memory: an index is cheap, and compiling a question is not. It
 * matters most for tables that were filled a moment ago and have no statistics yet.
 */
const PLANNING = "-c random_page_cost=1.1 -c jit=off";
/**
 * How often it is asked whether something changed of which nobody was told: so everybody else needs not ask. A server
 * that does not answer so small a question so long is out of reach: connections to it are given up.
 */
const PULSE_MS = 700;
const PULSE_ANSWER_MS = 2500;
/** On a machine that does not let this thread run in time, the server on it may have to wait as well: so many times longer. */
const STARVED_TIMES = 6;
const STARVED_LATE_MS = 200;
const STARVED_FOR_MS = 10_000;
const TICK_MS = 250;
const LISTEN_AGAIN_MS = 500;
/** Whoever comes so shortly after a connection could not be made is told the same, and does not wait for another try. */
const UNREACHABLE_MS = 500;
/** An answer that took longer says too little about when the server's clock was read. */
const TIMELY_MS = 500;
/** What two looks at it differ by anyway is not told. */
const SAME_TIME_MS = 100;
/** The server's goodbye is not waited for any longer. */
const GOODBYE_MS = 1000;
/** However many changes others tell of, we hear of them so often. */
const NEWS_MS = 20;

const OID = { bool: 16, int8: 20, json: 114, numeric: 1700 };

/** As SQLite has them: numbers for all numbers, and for yes and no. */
const types = {
  getTypeParser(oid: number, format?: string): (text: never) => unknown {
    if (oid === OID.int8 || oid === OID.numeric) return Number;
    if (oid === OID.json) return String;
    if (oid === OID.bool) return (text: string) => (text === "t" ? 1 : 0);
    return pg.types.getTypeParser(oid, format as "text");
  },
};

const { url, schema, lines } = workerData as WireData;

const tell = (news: WireNews) => parentPort?.postMessage(news);
let toldAheadMs = 0;

let wasConnected = false;

let starvedUntil = 0;

/** A timer that comes much too late says that the machine is overloaded. */
function noteLateness(beganMs: number, wantedMs: number): void {
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
    connectionTimeoutMillis: !wasConnected ? FIRST_CONNECT_MS : CONNECT_MS * (isStarved() ? STARVED_TIMES : 1),
    application_name: "orbweaver",
    ...LIMITS,
    options: `-c search_path=${schema} -c synchronous_commit=off ${PLANNING} -c default_transaction_read_only=${readOnly ? "on" : "off"}`,
  } as pg.ClientConfig);
  // Said again by every question that it cannot answer.
  client.on("error", () => {});
  try {
    await client.connect();
    await getToKnow(client);
    wasConnected = true;
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
  return client;
}

const NOW = "extract(epoch FROM clock_timestamp()) * 1000 AS now";

/** A pooler may keep our settings to itself, and Postgres passes over a schema that we may not use: tables would be missing. */
async function getToKnow(client: pg.Client): Promise<void> {
  const [asked, begun] = [systemClock.now(), systemClock.monotonic()];
  const { rows } = await client.query(
    `SELECT current_setting('search_path') AS path, ${NOW},
       (SELECT has_schema_privilege(oid, 'USAGE')::int FROM pg_catalog.pg_namespace WHERE nspname = $1) AS allowed`,
    [schema],
  );
  const tookMs = systemClock.monotonic() - begun;
  const [{ path, allowed, now }] = rows as [{ path: string; allowed: number | null; now: number }];
  if (path.replaceAll('"', "") !== schema) throw new Error(SETTINGS_LOST);
  if (allowed === 0)
    throw Object.assign(new Error(`permission denied for schema ${schema}`), { code: "42501", severity: "ERROR" });
  // Told in any case: whoever begins waits for it.
  if (tookMs < TIMELY_MS) toldAheadMs = now - asked - tookMs / 2;
  tell({ aheadMs: toldAheadMs });
}

function valueOf(value: WireValue): unknown {
  if (Array.isArray(value)) return value.map((one: WireValue) => valueOf(one));
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

let unreachable: { error: PlainError; until: number } | null = null;

/** A line of methods waits behind each that is under way: a server out of reach is found out once for all of them. */
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

class Speaker {
  readonly #readOnly: boolean;
  #client: pg.Client | null = null;

  constructor(readOnly: boolean) {
    this.#readOnly = readOnly;
  }

  async speak({ requests, fresh }: Batch): Promise<Answer[]> {
    if (this.#client === null) {
      if (!fresh) return [{ error: { message: "the connection was lost", code: null } }];
      const made = await connectSoon(this.#readOnly);
      if (!(made instanceof pg.Client)) return [{ error: { ...made, unsent: true } }];
      this.#client = made;
      made.once("end", () => this.#lost(made));
    }
    const client = this.#client;
    const answers = await Promise.all(requests.map((request) => this.#ask(client, request)));
    if (answers.some((one) => "error" in one && isConnectionLost(one.error))) this.drop();
    return answers;
  }

  async #ask(client: pg.Client, { text, name, values, lists }: Request): Promise<Answer> {
    try {
      const result = await client.query({
        text,
        ...(name === null ? {} : { name, values: values.map(valueOf) }),
        ...(lists ? { rowMode: "array" as const } : {}),
      } as pg.QueryConfig);
      // So the server ends a transaction in which something has failed.
      if (text === "COMMIT" && result.command === "ROLLBACK")
        return { error: { message: "the transaction was undone: something in it had failed", code: "25P02" } };
      return { rows: result.rows, count: result.rowCount ?? 0 };
    } catch (error) {
      return { error: plainError(error) };
    }
  }

  #lost(client: pg.Client): void {
    if (this.#client === client) this.#client = null;
  }

  /** Gives the connection up; what waits for it is told at once. */
  drop(): void {
    const client = this.#client;
    this.#client = null;
    if (client !== null) destroy(client);
  }

  async end(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await Promise.race([client?.end().catch(() => {}), pause(GOODBYE_MS)]);
  }
}

function destroy(client: pg.Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(error?: Error): void } } }).connection;
  stream.destroy(new Error("the database does not answer"));
}

const speakers = lines.map(({ end, readOnly }) => {
  const speaker = new Speaker(readOnly);
  end.port.on("message", (batch: Batch | "drop") => {
    if (batch === "drop") return speaker.drop();
    void speaker.speak(batch).then((answers) => answer(end, batch.number, answers));
  });
  return speaker;
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const closing = new AbortController();

const NEWS = ["events", "control"] as const;
const heard = new Set<(typeof NEWS)[number]>();

/** Tells all that was heard within a short time at once. */
function hear(news: (typeof NEWS)[number]): void {
  if (heard.size === 0)
    setTimeout(() => {
      for (const one of heard) tell({ news: one });
      heard.clear();
    }, NEWS_MS);
  heard.add(news);
}

function hearAll(): void {
  for (const news of NEWS) hear(news);
}

class Silence extends Error {}

/** Hears what others have changed, and feels the server's pulse. */
async function listen(): Promise<void> {
  for (let first = true; !closing.signal.aborted; first = false) {
    let client: pg.Client | null = null;
    try {
      client = await connect(true);
      unreachable = null;
      const listening = client;
      client.on("notification", ({ payload }) => hear(payload === "control" ? "control" : "events"));
      const gone = new Promise<void>((resolve) => listening.once("end", resolve));
      await client.query(`LISTEN ${pg.escapeIdentifier(schema)}; SET lock_timeout = ${PULSE_ANSWER_MS / 2}`);
      tell({ trouble: null });
      // Whatever was said in between was not heard.
      if (!first) hearAll();
      let seen = await pulse(client);
      for (let alive = true; alive && !closing.signal.aborted;) {
        const beganMs = performance.now();
        alive = await Promise.race([pause(PULSE_MS).then(() => true), gone.then(() => false)]);
        if (alive) noteLateness(beganMs, PULSE_MS);
        if (!alive) break;
        const now = await pulse(client);
        for (const news of NEWS) if (now?.[news] !== seen?.[news]) hear(news);
        seen = now;
      }
    } catch (error) {
      const plain = plainError(error);
      tell({ trouble: plain.message });
      // Nobody tells them any more: they look for themselves.
      hearAll();
      // A connection that was ended is noticed by whoever has it; one into which everything vanishes is not.
      if (error instanceof Silence || client === null) {
        // Until this here has found the server again nobody else waits for it.
        if (plain.code === null)
          unreachable = { error: plain, until: performance.now() + LISTEN_AGAIN_MS + CONNECT_MS + UNREACHABLE_MS };
        for (const speaker of speakers) speaker.drop();
      }
    }
    if (client !== null) destroy(client);
    if (!closing.signal.aborted) await pause(LISTEN_AGAIN_MS);
  }
}

const CHANGES = `SELECT (SELECT version FROM control) AS control, (SELECT max(n) FROM events) AS events, ${NOW}`;
/** There are no tables yet, or somebody is changing them; both are answers. */
const NOT_NOW = new Set(["42P01", "55P03"]);

function tellTime(aheadMs: number): void {
  if (Math.abs(aheadMs - toldAheadMs) < SAME_TIME_MS) return;
  toldAheadMs = aheadMs;
  tell({ aheadMs });
}

/** What was changed last; null: that cannot be told. */
async function pulse(client: pg.Client): Promise<Record<(typeof NEWS)[number], number | null> | null> {
  const [asked, begun] = [systemClock.now(), systemClock.monotonic()];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const silent = () => reject(new Silence("the database does not answer"));
    let waitedMs = 0;
    const tick = () => {
      const beganMs = performance.now();
      timer = setTimeout(() => {
        noteLateness(beganMs, TICK_MS);
        waitedMs += TICK_MS;
        if (waitedMs < PULSE_ANSWER_MS * (isStarved() ? STARVED_TIMES : 1)) return tick();
        // What came while this thread had no processor is heard first: that was not the server's silence.
        timer = undefined;
        setImmediate(() => setImmediate(silent));
      }, TICK_MS);
    };
    tick();
  });
  try {
    const { rows } = await Promise.race([client.query(CHANGES), late]);
    const tookMs = systemClock.monotonic() - begun;
    if (tookMs < TIMELY_MS) tellTime(rows[0].now - asked - tookMs / 2);
    return rows[0];
  } catch (error) {
    if (NOT_NOW.has((error as { code?: string }).code ?? "")) return null;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

parentPort?.on("message", () => {
  closing.abort();
  void Promise.all(speakers.map((speaker) => speaker.end())).then(() => process.exit(0));
});

void listen();
