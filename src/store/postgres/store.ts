import { getCompileCacheDir } from "node:module";
import { type Transferable, Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import type { Store } from "../ports/port.ts";
import { takeSchema } from "./address.ts";
import { type ChannelEnds, createChannel } from "./sync-channel.ts";
import { READS } from "./reads.ts";
import type { Call, Opened, Ready, Said, SaidError, ThreadData } from "./thread.ts";
import type { WireData, WireMessage } from "./wire.ts";

interface PostgresOptions {
  /** postgres://…; `schema` among its parameters names another schema than ours. */
  url: string;
  clock: Clock;
  log?: Log;
  /** Told now and then by how much the database's clock is ahead of this machine's. */
  onAhead?: (ms: number) => void;
  /** Instead of the database's clock. */
  leaseNow?: () => number;
  /** The schema is being filled, and looked at before others may start on it. */
  unfinished?: boolean;
}

const READERS = 2;

type Listener = (what: "events" | "control") => void;

/**
 * Postgres, behind threads: the methods are written in synchronous steps, and these threads stand still for them
 * (docs/decisions/0010-one-store-two-databases.md). The caller's thread never does.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  return (await open(options)).store;
}

/** Brings the database to this version's schema, which opening it does, too, and says what that took. */
export async function migratePostgres(options: PostgresOptions): Promise<NonNullable<Opened["migrated"]>> {
  const { store, migrated } = await open(options);
  await store.close();
  return migrated;
}

async function open(options: PostgresOptions): Promise<{ store: Store; migrated: NonNullable<Opened["migrated"]> }> {
  const { url, schema } = takeSchema(options.url);
  const channels = Array.from({ length: 1 + READERS }, () => createChannel());
  const wire = startWire(url, schema, channels);
  // Heard from the start: of a thread that has ended already nobody hears that it ends.
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
  // Only now: whoever listens to a thread keeps the process alive.
  wire.unref();
  const threads: StoreThread[] = [];
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= end());
  const end = async () => {
    await Promise.all(threads.map((thread) => thread.close()));
    wire.ref();
    wire.postMessage("close");
    await wireEnded;
  };
  const workers = channels.map(({ asking }, index) => {
    const data: ThreadData = { channel: asking, schema, migrates: index === 0 && options.unfinished !== true };
    return startThread("thread", data, [asking.port]);
  });
  try {
    // The first one migrates; what the others do needs its tables.
    for (const worker of workers) threads.push(await StoreThread.open(worker));
    // Told of every new connection: nobody begins before it is known what time it is.
    wire.ref();
    await compared.promise;
    wire.unref();
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.terminate()));
    await close();
    throw error;
  }
  const [writer, ...readers] = threads as [StoreThread, ...StoreThread[]];
  const reads = new Set<string>(READS as readonly string[]);
  const call = (method: string, args: unknown[]) => {
    const thread = reads.has(method) ? idlest(readers) : writer;
    const { clock, leaseNow } = options;
    return thread.call({ method, args, wallNow: clock.now(), leaseNow: leaseNow?.() ?? null });
  };
  const methods = Object.fromEntries(
    writer.methods.map((method) => [method, (...args: unknown[]) => call(method, args)]),
  );
  const store = {
    ...methods,
    capabilities: { singleEngine: false, notifies: true },
    instance: writer.instance,
    deployment: writer.deployment,
    watch(listener: Listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  } as unknown as Store;
  return { store, migrated: writer.migrated as NonNullable<Opened["migrated"]> };
}

function startWire(url: string, schema: string, channels: readonly ChannelEnds[]): Worker {
  const data: WireData = {
    url,
    schema,
    channels: channels.map(({ answering }, index) => ({ end: answering, readOnly: index > 0 })),
  };
  const ports = channels.map(({ answering }) => answering.port);
  return startThread("wire", data, ports);
}

function startThread(begins: "thread" | "wire", data: object, transferList: Transferable[]): Worker {
  const code = new URL("./thread-start.ts", import.meta.url);
  return new Worker(code, { workerData: { ...data, begins, compiledIn: getCompileCacheDir() }, transferList });
}

function idlest(threads: readonly StoreThread[]): StoreThread {
  return threads.reduce((best, thread) => (thread.waiting < best.waiting ? thread : best));
}

/** A thread that carries out methods, and who waits for which of them. */
class StoreThread {
  readonly instance: string;
  readonly deployment: string;
  readonly methods: readonly string[];
  readonly migrated: Opened["migrated"];
  readonly #worker: Worker;
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  #last = 0;
  #closing = false;
  #dead: Error | null = null;

  private constructor(worker: Worker, { instance, deployment, methods, migrated }: Opened) {
    this.#worker = worker;
    this.instance = instance;
    this.deployment = deployment;
    this.methods = methods;
    this.migrated = migrated;
    worker.on("message", (said: Said) => this.#queueChange(said));
    worker.unref();
    // A thread that fails has an error that nobody takes: the process ends by it, as it would of its own errors.
    worker.on("exit", () => this.#die());
  }

  static open(worker: Worker): Promise<StoreThread> {
    return new Promise((resolve, reject) => {
      const ended = (code: number) =>
        reject(new OrbError("database_unavailable", `a thread of the store ended before it began, with code ${code}`));
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
    // Whoever waits for an answer keeps the process alive.
    if (this.#calls.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...what });
    });
  }

  #queueChange(said: Said): void {
    const call = this.#calls.get(said.id);
    this.#calls.delete(said.id);
    if (this.#calls.size === 0 && !this.#closing) this.#worker.unref();
    if ("error" in said) call?.reject(errorOf(said.error));
    else call?.resolve(said.value);
  }

  #die(): void {
    const error = (this.#dead = new OrbError("database_unavailable", "the store is closed"));
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }

  async close(): Promise<void> {
    if (this.#dead !== null) return;
    const ended = new Promise((resolve) => this.#worker.once("exit", resolve));
    // Whoever waits for its end keeps the process alive, too: also when the last answer has come.
    this.#closing = true;
    this.#worker.ref();
    this.#worker.postMessage("close");
    await ended;
  }
}

function errorOf(said: SaidError): Error {
  if ("orb" in said) {
    const { code, message, hint, fields } = said.orb;
    return new OrbError(code, message, { fields, ...(hint === undefined ? {} : { hint }) });
  }
  const error = new Error(said.plain.message);
  if (said.plain.stack !== undefined) error.stack = said.plain.stack;
  return error;
}
