import { withCaller } from "../../domain/access/caller.ts";
import type { WriteScope } from "../ports/access.ts";
import { AtEnd } from "../sql/kernel/at-end.ts";
import type {
  Changes,
  Collector,
  Connection,
  Query,
  Row,
  Statement,
  Value,
  Values,
  WriteOptions,
} from "../sql/kernel/connection.ts";
import { postgresDialect } from "./dialect.ts";
import { isConflict, isConnectionLost, type PlainError, postgresError } from "./errors.ts";
import {
  type Answer,
  ask,
  type ChannelEnds,
  type Request,
  type BulkConnection,
  type WireValue,
} from "./sync-channel.ts";
import { cleaned } from "./cleaned.ts";
import { endLeases, saysCrashed, TIME, TIME_UNLESS_CRASHED } from "./crash-sentinel.ts";
import { type GroupedWrite, lockTogether, NO_LOCKS, widestScope } from "./grouped-writes.ts";
import { refuseTooLong } from "./too-long.ts";
import { translate } from "./translate.ts";

/**
 * The advisory lock of the deployment: transactions with the scope `all` hold it exclusively, those with the scope
 * `runs` share it, in addition to the locks of their runs.
 */
export const DEPLOYMENT_LOCK = 0x4f726277;

const CLOCK_OFFSET_VALID_MS = 5000;

/** A statement that may not be sent yet, and its answer once there is one. */
interface Pending {
  request: Request;
  answer: Exclude<Answer, { error: PlainError }> | null;
}

const NO_TIMEOUTS = ["SET LOCAL statement_timeout = 0", "SET LOCAL lock_timeout = 0"];

/** Attempts of a transaction that was certainly rolled back. */
const MAX_ATTEMPTS = 5;

/** A class, because V8 keeps what the getters of an object literal refer to until a full collection. */
class LazyChanges implements Changes {
  readonly #count: () => number;

  constructor(count: () => number) {
    this.#count = count;
  }

  get changes(): number {
    return this.#count();
  }
}

class RolledBack extends Error {
  readonly error: PlainError;

  constructor(error: PlainError) {
    super(error.message);
    this.error = error;
  }
}

/** The server crashed and lost its last commits; this transaction was rolled back. */
class ServerCrashed extends Error {}

/**
 * One connection, used by a thread that blocks while it waits. Writes are buffered and sent with the next query or the
 * COMMIT: most transactions take two round trips, however much they write.
 */
export class PostgresConnection implements Connection, BulkConnection {
  readonly dialect = postgresDialect;
  readonly #channel: ChannelEnds["asking"];
  readonly #locks: Record<WriteScope, readonly string[]>;
  readonly #atEnd = new AtEnd();
  readonly #names = new Map<string, string>();
  #pending: Pending[] = [];
  #depth: "none" | "begun" | "sent" = "none";
  #committing = false;
  #unlimited = false;
  #now: Pending | null = null;
  #clock: { ahead: number; at: number } | null = null;
  #grouped: GroupedWrite[] = [];
  #commitUnknown = false;
  #conflicts = 0;

  constructor(channel: ChannelEnds["asking"], schema: string) {
    this.#channel = channel;
    const key = `${DEPLOYMENT_LOCK}, hashtext('${schema}')`;
    this.#locks = {
      row: [],
      runs: [`SELECT pg_advisory_xact_lock_shared(${key})`],
      all: [`SELECT pg_advisory_xact_lock(${key})`],
    };
  }

  sql(text: string, options?: { lists: boolean }): Statement {
    const { text: translated, order } = translate(text);
    const lists = options?.lists === true;
    const push = (values: Values) => this.#push(this.#request(translated, valuesIn(order, values), lists));
    return {
      get: (...values) => this.#answerOf(push(values)).rows[0] as Row | undefined,
      all: (...values) => this.#answerOf(push(values)).rows,
      run: (...values) => {
        const pending = push(values);
        // Outside a transaction nothing else sends it.
        if (this.#depth === "none") this.#flush();
        return new LazyChanges(() => this.#answerOf(pending).count);
      },
    };
  }

  bulk(text: string, values: readonly WireValue[]): () => { rows: unknown[]; count: number } {
    const pending = this.#push(this.#request(text, values, false));
    return () => this.#answerOf(pending);
  }

  first(text: string, values: Values): () => Row | undefined {
    const { text: translated, order } = translate(text);
    const answer = this.bulk(translated, valuesIn(order, values));
    return () => answer().rows[0] as Row | undefined;
  }

  list({ text, values, lists = false }: Query): () => unknown[] {
    const { text: translated, order } = translate(text);
    const pending = this.#push(this.#request(translated, valuesIn(order, values), lists));
    return () => this.#answerOf(pending).rows;
  }

  /** Several statements without parameters. */
  script(text: string): void {
    this.#push({ text, name: null, values: [], lists: false });
    this.#flush();
  }

  write<T>(work: () => T, options: WriteOptions = {}): T {
    return this.writeIn("all", work, options);
  }

  writeIn<T>(scope: WriteScope, work: () => T, { durable = false, exclusive = false, lockMs }: WriteOptions): T {
    const locks = this.#locks[exclusive ? "all" : scope];
    const first = lockMs === undefined ? [] : [`SET LOCAL lock_timeout = ${Math.ceil(lockMs)}`];
    return this.#withRetries(() => this.#attempt(work, locks, durable, TIME_UNLESS_CRASHED, first));
  }

  atEnd<Item>(collector: Collector<Item>, item: Item): void {
    this.#atEnd.add(collector, item);
  }

  /** Without timeouts, also for the lock: for work that happens once, before any other. */
  writeUnlimited<T>(work: () => T): T {
    this.#unlimited = true;
    try {
      return this.#withRetries(() => this.#attempt(work, this.#locks.all, true, TIME, NO_TIMEOUTS));
    } finally {
      this.#unlimited = false;
    }
  }

  #withRetries<T>(attempt: () => T): T {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return attempt();
      } catch (error) {
        if (error instanceof ServerCrashed)
          this.#attempt(() => endLeases((text) => this.sql(text).run()), this.#locks.all, true, TIME);
        else if (!(error instanceof RolledBack)) throw error;
        else if (isConflict(error.error)) this.#conflicts += 1;
        if (error instanceof RolledBack && attempts === MAX_ATTEMPTS) throw postgresError(error.error);
      }
    }
  }

  #attempt<T>(
    work: () => T,
    locks: readonly string[],
    durable: boolean,
    time: string,
    first: readonly string[] = [],
  ): T {
    this.#begin("BEGIN", ...first, ...(durable ? ["SET LOCAL synchronous_commit = on"] : []), ...locks, time);
    this.#now = this.#pending.at(-1) as Pending;
    try {
      const result = work();
      this.#atEnd.write(this);
      this.#committing = true;
      this.#pushText("COMMIT");
      this.#flush();
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      this.#atEnd.clear();
      this.#depth = "none";
      this.#committing = false;
      this.#now = null;
    }
  }

  #begin(...words: string[]): void {
    if (this.#depth !== "none") throw new Error("a transaction within a transaction");
    this.#depth = "begun";
    for (const word of words) this.#pushText(word);
  }

  #rollback(): void {
    this.#pending = [];
    if (this.#depth !== "sent") return;
    // A lost connection has rolled back already.
    const rollback = { text: "ROLLBACK", name: null, values: [], lists: false };
    ask(this.#channel, { requests: [rollback], fresh: false });
  }

  writeTogether<T>(work: () => T, locks = NO_LOCKS): Promise<T> {
    return this.writeTogetherIn("all", work, locks);
  }

  writeTogetherIn<T>(scope: WriteScope, anyWork: () => T, locks = NO_LOCKS): Promise<T> {
    const work = withCaller(anyWork);
    return new Promise<T>((resolve, reject) => {
      this.#grouped.push({ scope, locks, work, resolve: resolve as (value: unknown) => void, reject });
      if (this.#grouped.length === 1) setImmediate(() => this.#commitGrouped());
    });
  }

  #commitGrouped(): void {
    const list = this.#grouped;
    this.#grouped = [];
    if (list.length === 0) return;
    try {
      const work = () => {
        lockTogether(this, list);
        return list.map((write) => this.#inSavepoint(write, list.length > 1));
      };
      const ends = this.writeIn(widestScope(list), work, { durable: true });
      for (const end of ends) end();
    } catch (error) {
      for (const { reject } of list) reject(error);
    }
  }

  /** One of several in a transaction: a failure rolls back its own changes and keeps the others. */
  #inSavepoint({ work, resolve, reject }: GroupedWrite, several: boolean): () => void {
    const savepoint = several ? this.#pushText("SAVEPOINT one") : null;
    const dropCollected = this.#atEnd.savepoint();
    try {
      const result = work();
      if (several) {
        this.#pushText("RELEASE one");
        this.#flush();
      }
      return () => resolve(result);
    } catch (error) {
      if (savepoint === null || error instanceof RolledBack) throw error;
      dropCollected();
      const unsent = this.#pending.indexOf(savepoint);
      // Statements buffered before the savepoint belong to others.
      this.#pending = this.#pending.slice(0, Math.max(0, unsent));
      if (unsent === -1) {
        // Without the savepoint the transaction itself has not begun.
        if (savepoint.answer === null) throw error;
        this.#pushText("ROLLBACK TO one");
        this.#pushText("RELEASE one");
      }
      return () => reject(error);
    }
  }

  read<T>(work: () => T): T {
    return this.#withRetries(() => this.#readOnce(work));
  }

  #readOnce<T>(work: () => T): T {
    this.#begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    try {
      return work();
    } finally {
      this.#rollback();
      this.#depth = "none";
    }
  }

  close(): void {
    this.#commitGrouped();
  }

  /** This connection, with the write scope of a store method. */
  scoped(scope: WriteScope): Connection & BulkConnection {
    return {
      dialect: this.dialect,
      sql: (text, options) => this.sql(text, options),
      write: (work, options = {}) => this.writeIn(scope, work, options),
      writeTogether: (work, locks) => this.writeTogetherIn(scope, work, locks),
      atEnd: (collector, item) => this.atEnd(collector, item),
      read: (work) => this.read(work),
      close: () => this.close(),
      bulk: (text, values) => this.bulk(text, values),
      first: (text, values) => this.first(text, values),
      list: (query) => this.list(query),
    };
  }

  /** How many transactions were executed again since the last call, because of others. */
  takeConflicts(): number {
    const conflicts = this.#conflicts;
    this.#conflicts = 0;
    return conflicts;
  }

  /** Whether, since the last call, a COMMIT was sent whose outcome is unknown. */
  takeCommitUnknown(): boolean {
    const unknown = this.#commitUnknown;
    this.#commitUnknown = false;
    return unknown;
  }

  /**
   * The database's clock. In a write transaction: the time at which it got the lock. Reads, which decide nothing by it,
   * use the measured clock offset, renewed every few seconds.
   */
  now(): number {
    if (this.#now !== null) return this.#timeIn(this.#now);
    const before = performance.now();
    if (this.#clock !== null && before - this.#clock.at < CLOCK_OFFSET_VALID_MS) return before + this.#clock.ahead;
    const now = this.#timeIn(this.#push(this.#request(TIME, [], false)));
    const at = performance.now();
    this.#clock = { ahead: now - (before + at) / 2, at };
    return now;
  }

  #timeIn(pending: Pending): number {
    return (this.#answerOf(pending).rows[0] as { now: number }).now;
  }

  #pushText(text: string): Pending {
    return this.#push(this.#request(text, [], false));
  }

  #request(text: string, values: readonly WireValue[], lists: boolean): Request {
    let name = this.#names.get(text);
    if (name === undefined) this.#names.set(text, (name = `s${this.#names.size}`));
    return { text, name, values, lists };
  }

  #push(request: Request): Pending {
    const pending = { request, answer: null };
    this.#pending.push(pending);
    return pending;
  }

  #answerOf(pending: Pending): { rows: unknown[]; count: number } {
    if (pending.answer === null) this.#flush();
    if (pending.answer === null) throw new Error("asked for something that was undone");
    return pending.answer;
  }

  #flush(): void {
    const list = this.#pending;
    this.#pending = [];
    if (list.length === 0) return;
    const requests = list.map(({ request }) => request);
    refuseTooLong(requests);
    const fresh = this.#depth !== "sent";
    if (this.#depth === "begun") this.#depth = "sent";
    const timeoutMs = this.#unlimited ? Number.POSITIVE_INFINITY : undefined;
    const answers = ask(this.#channel, { requests, fresh }, timeoutMs);
    for (const [index, answer] of answers.entries()) {
      const pending = list[index] as Pending;
      if ("error" in answer) throw this.#toError(answer.error, pending.request.text);
      pending.answer = answer;
    }
  }

  /** Nothing is committed before COMMIT is sent: until then the whole transaction may be retried. */
  #toError(error: PlainError, text: string): Error {
    if (saysCrashed(error, text)) return new ServerCrashed();
    const lost = isConnectionLost(error);
    // An unreachable server is not retried at once.
    const isRolledBack =
      this.#depth !== "none" && (isConflict(error) || (lost && !this.#committing && error.unsent !== true));
    if (lost && this.#committing && error.unsent !== true) this.#commitUnknown = true;
    if (lost) this.#depth = this.#depth === "none" ? "none" : "begun";
    return isRolledBack ? new RolledBack(error) : postgresError(error, text);
  }
}

function valuesIn(order: readonly (number | string)[], values: Values): WireValue[] {
  const [first] = values;
  const named = first !== null && typeof first === "object" && !(first instanceof Uint8Array) ? first : null;
  return order.map((key) => cleaned(named === null ? (values[key as number] as Value) : (named[key] as Value)));
}
