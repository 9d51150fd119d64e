import { getCompileCacheDir } from "node:module";
import { type Transferable, Worker } from "node:worker_threads";
import { currentCaller } from "../../domain/access/caller.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf, OrbError } from "../../base/errors.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import { STORE_ACCESS, type StoreMethods } from "../ports/access.ts";
import type { LaneHold, Store } from "../ports/port.ts";
import { takeSchema } from "./address.ts";
import { inTurns, type StoreCall } from "./turns.ts";
import { WRITERS } from "./limits.ts";
import { type ChannelEnds, createChannel } from "./sync-channel.ts";
import type { Call, Opened, Ready, CallResult, PlainCallError, ThreadData } from "./thread.ts";
import type { WireChannel, WireData, WireMessage } from "./wire.ts";

interface PostgresOptions {
  /** postgres://…; the parameter `schema` replaces the default schema. */
  url: string;
  clock: Clock;
  log?: Log;
  /** Receives how far the database's clock is ahead of this machine's. */
  onAhead?: (ms: number) => void;
  /** Replaces the database's clock. */
  leaseNow?: () => number;
  /** The schema is still being copied, and audited before others may start on it. */
  unfinished?: boolean;
}

const READERS = 2;
/** After a thread could not be started (the server accepts no more connections), another is not tried before. */
const RESTART_MS = 10_000;
/** How long the first heartbeat waits for a thread of its own. */
const LEASE_START_MS = 500;

const LEASE_METHODS: ReadonlySet<keyof StoreMethods> = new Set([
  "heartbeat",
  "recordHeartbeat",
  "answerPings",
  "takeEngine",
  "releaseEngine",
  "probe",
] as const);

type Listener = (what: "events" | "control") => void;

/**
 * Postgres behind threads: the store methods are synchronous, and these threads block for them
 * (docs/decisions/0010-one-store-two-databases.md). The caller's thread never does.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  return (await open(options)).store;
}

/** Migrates the schema, as opening the store does, and returns what was applied. */
export async function migratePostgres(options: PostgresOptions): Promise<NonNullable<Opened["migrated"]>> {
  const { store, migrated } = await open(options);
  await store.close();
  return migrated;
}

async function open(options: PostgresOptions): Promise<{ store: Store; migrated: NonNullable<Opened["migrated"]> }> {
  const { url, schema } = takeSchema(options.url);
  // A writer, and the readers. Others start when there is more to write.
  const channels = Array.from({ length: 1 + READERS }, () => createChannel());
  const wire = startWire(url, schema, channels);
  // Subscribed from the start: a thread that has already exited emits nothing.
  const wireEnded = new Promise((resolve) => wire.once("exit", resolve));
  const listeners = new Set<Listener>();
  const outage = new OutageLogger(options.log ?? silentLog);
  const compared = Promise.withResolvers<void>();
  wire.on("message", (message: WireMessage) => {
    if ("change" in message) for (const listener of listeners) listener(message.change);
    else if ("aheadMs" in message) {
      options.onAhead?.(message.aheadMs);
      compared.resolve();
    } else if (message.outage === null) outage.ends("the database answers again");
    else outage.begins("the database does not answer; reconnecting", { error: message.outage });
  });
  // Only now: adding a listener refs the thread, which keeps the process alive.
  wire.unref();
  const threads: StoreThread[] = [];
  const starting: Promise<StoreThread>[] = [];
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= end());
  const end = async () => {
    await Promise.all(starting);
    await Promise.all(threads.map((thread) => thread.close()));
    wire.ref();
    wire.postMessage("close");
    await wireEnded;
  };
  const startWorker = ({ asking }: Pick<ChannelEnds, "asking">, index: number) => {
    const data: ThreadData = { channel: asking, schema, migrates: index === 0 && options.unfinished !== true };
    return startThread("thread", data, [asking.port]);
  };
  const workers = channels.map(startWorker);
  try {
    // The first thread migrates; the others need its tables.
    for (const worker of workers) threads.push(await StoreThread.open(worker));
    // Every new connection reports the clock offset: open waits for the first.
    wire.ref();
    await compared.promise;
    wire.unref();
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.terminate()));
    await close();
    throw error;
  }
  const [writer, ...readers] = threads as [StoreThread, ...StoreThread[]];
  const writers = [writer];
  let failedAt = Number.NEGATIVE_INFINITY;
  /** Another thread, as soon as it is ready; the first one if it cannot be started. Then it is tried again later. */
  const startAnother = (): Promise<StoreThread> => {
    if (closed !== null || options.clock.monotonic() - failedAt < RESTART_MS) return Promise.resolve(writer);
    const { asking, answering } = createChannel();
    wire.postMessage({ end: answering, readOnly: false } satisfies WireChannel, [answering.port]);
    const started = StoreThread.open(startWorker({ asking }, channels.length)).then(
      (thread) => {
        threads.push(thread);
        return thread;
      },
      (error: unknown) => {
        failedAt = options.clock.monotonic();
        options.log?.warn("cannot start another database thread", { error: messageOf(error) });
        return writer;
      },
    );
    starting.push(started);
    return started;
  };
  let leaseWriter: StoreThread | null = null;
  let leaseStart: Promise<StoreThread> | null = null;
  let leaseStartIsLate = false;
  let patientWriter: Promise<StoreThread> | null = null;
  let isGrowing = false;
  const writerOf = (method: keyof StoreMethods, args: unknown[]): StoreThread => {
    const least = leastBusy(writers);
    if (least.waiting > 0 && writers.length < WRITERS && !isGrowing) {
      isGrowing = true;
      void startAnother().then((thread) => {
        isGrowing = false;
        if (thread !== writer) writers.push(thread);
      });
    }
    // A thread remembers which run of a lane it served last.
    return method === "claim" ? (writers[(args[0] as LaneHold).laneId % writers.length] as StoreThread) : least;
  };
  /**
   * Leases must not wait for other work of the process: they get a thread and a connection of their own. Nor do they wait
   * long for it: until it is there, a thread that has nothing else to do writes them.
   */
  const threadForLeases = (): StoreThread | Promise<StoreThread> => {
    if (leaseWriter !== null) return leaseWriter;
    leaseStart ??= startAnother().then((thread) => {
      // If it could not be started, it is tried again with a later heartbeat.
      leaseStart = null;
      if (thread !== writer) leaseWriter = thread;
      return thread;
    });
    const start = leaseStart;
    const idleOrStarted = () => writers.find(({ waiting }) => waiting === 0) ?? start;
    if (leaseStartIsLate) return idleOrStarted();
    const late = sleep(options.clock, LEASE_START_MS).then(() => {
      leaseStartIsLate = true;
      return idleOrStarted();
    });
    return Promise.race([start, late]);
  };
  /** Calls that wait for runs that others have locked wait there, and nobody else behind them. */
  const threadForTurns = (): Promise<StoreThread> =>
    (patientWriter ??= startAnother().then((thread) => {
      if (thread === writer) patientWriter = null;
      return thread;
    }));
  const threadFor = (method: keyof StoreMethods, args: unknown[], isPatient: boolean) => {
    // Heartbeats follow.
    if (method === "joinOwners") void threadForLeases();
    switch (STORE_ACCESS[method]) {
      case "read":
        return leastBusy(readers);
      case "row":
        return LEASE_METHODS.has(method) ? threadForLeases() : writer;
      case "runs":
        return isPatient ? threadForTurns() : writerOf(method, args);
      case "all":
        return writer;
    }
  };
  const call: StoreCall = (method, args, isPatient = false) => {
    const { clock, leaseNow } = options;
    const caller = currentCaller();
    const times = {
      wallNow: clock.now(),
      leaseNow: leaseNow?.() ?? null,
      ...(caller === null ? {} : { caller }),
    };
    const thread = threadFor(method as keyof StoreMethods, args, isPatient);
    if (thread instanceof StoreThread) return thread.call({ method, args, ...times });
    return thread.then((ready) =>
      // Leases would wait behind it.
      isPatient && ready === writer
        ? Promise.reject(new OrbError("database_busy", "there is no connection to wait on"))
        : ready.call({ method, args, ...times }),
    );
  };
  const methods = {
    ...Object.fromEntries(writer.methods.map((method) => [method, (...args: unknown[]) => call(method, args)])),
    ...inTurns(call, options.clock, WRITERS),
  };
  const store = {
    ...methods,
    capabilities: { singleEngine: false, notifies: true },
    instance: writer.instance,
    deployment: writer.deployment,
    conflicts: () => threads.reduce((sum, thread) => sum + thread.conflicts, 0),
    watch(listener: Listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  } as unknown as Store;
  return { store, migrated: writer.migrated as NonNullable<Opened["migrated"]> };
}

/** The first channel is that of the writer. */
function startWire(url: string, schema: string, channels: readonly ChannelEnds[]): Worker {
  const data: WireData = {
    url,
    schema,
    channels: channels.map(({ answering }, index) => ({ end: answering, readOnly: index > 0 })),
  };
  const ports = channels.map(({ answering }) => answering.port);
  return startThread("wire", data, ports);
}

function startThread(role: "thread" | "wire", data: object, transferList: Transferable[]): Worker {
  const code = new URL("./thread-start.ts", import.meta.url);
  return new Worker(code, { workerData: { ...data, role, compileCacheDir: getCompileCacheDir() }, transferList });
}

function leastBusy(threads: readonly StoreThread[]): StoreThread {
  return threads.reduce((best, thread) => (thread.waiting < best.waiting ? thread : best));
}

/** A thread that executes store methods, and its pending calls. */
class StoreThread {
  readonly instance: string;
  readonly deployment: string;
  readonly methods: readonly string[];
  readonly migrated: Opened["migrated"];
  readonly #worker: Worker;
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  conflicts = 0;
  #last = 0;
  #closing = false;
  #dead: Error | null = null;

  private constructor(worker: Worker, { instance, deployment, methods, migrated }: Opened) {
    this.#worker = worker;
    this.instance = instance;
    this.deployment = deployment;
    this.methods = methods;
    this.migrated = migrated;
    worker.on("message", (result: CallResult) => this.#settleCall(result));
    worker.unref();
    // A failed thread raises an unhandled error, which ends the process, as its own errors would.
    worker.on("exit", () => this.#die());
  }

  static open(worker: Worker): Promise<StoreThread> {
    return new Promise((resolve, reject) => {
      const ended = (code: number) =>
        reject(new OrbError("database_unavailable", `a database thread exited during startup with code ${code}`));
      worker.once("error", reject);
      worker.once("exit", ended);
      worker.once("message", (message: Ready) => {
        worker.off("error", reject);
        worker.off("exit", ended);
        if ("refused" in message) return reject(errorOf(message.refused));
        resolve(new StoreThread(worker, message.ready));
      });
      worker.postMessage("begin");
    });
  }

  get waiting(): number {
    return this.#calls.size;
  }

  call(what: Omit<Call, "id">): Promise<unknown> {
    if (this.#dead !== null) return Promise.reject(this.#dead);
    this.#last += 1;
    const id = this.#last;
    // A pending call keeps the process alive.
    if (this.#calls.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...what });
    });
  }

  #settleCall(result: CallResult): void {
    this.conflicts += result.conflicts;
    const call = this.#calls.get(result.id);
    this.#calls.delete(result.id);
    if (this.#calls.size === 0 && !this.#closing) this.#worker.unref();
    if ("error" in result) call?.reject(errorOf(result.error));
    else call?.resolve(result.value);
  }

  #die(): void {
    const error = (this.#dead = new OrbError("database_unavailable", "the store is closed"));
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }

  async close(): Promise<void> {
    if (this.#dead !== null) return;
    const ended = new Promise((resolve) => this.#worker.once("exit", resolve));
    // Closing keeps the process alive, too, even after the last answer.
    this.#closing = true;
    this.#worker.ref();
    this.#worker.postMessage("close");
    await ended;
  }
}

function errorOf(result: PlainCallError): Error {
  if ("orb" in result) {
    const { code, message, hint, fields } = result.orb;
    return new OrbError(code, message, { fields, ...(hint === undefined ? {} : { hint }) });
  }
  const error = new Error(result.plain.message);
  if (result.plain.stack !== undefined) error.stack = result.plain.stack;
  return error;
}
