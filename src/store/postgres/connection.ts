import type { Changes, Connection, Row, Statement, Value, Values, WriteOptions } from "../sql/kernel/connection.ts";
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
import { translate } from "./translate.ts";

/** All transactions that write come one after the other, in whatever process: the lock that sees to it. */
export const WRITER_LOCK = 0x4f726277;

const CLOCK_BELIEVED_MS = 5000;

/** What has been asked and not been sent. */
interface Pending {
  request: Request;
  answer: Exclude<Answer, { error: PlainError }> | null;
}

interface Together {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

const NO_LIMITS = ["SET LOCAL statement_timeout = 0", "SET LOCAL lock_timeout = 0"];

/** Tries of a transaction of which nothing can have been kept. */
const TRIES = 3;

class Undone extends Error {
  readonly error: PlainError;

  constructor(error: PlainError) {
    super(error.message);
    this.error = error;
  }
}

/** The server has lost its last moments, and nothing of this transaction is kept. */
class Forgotten extends Error {}

/**
 * One connection, in a thread of its own that stands still while it waits. What is written is sent along with the next
 * question, or with the end of the transaction: most transactions take two journeys, however much they write.
 */
export class PostgresConnection implements Connection, BulkConnection {
  readonly dialect = postgresDialect;
  readonly #channel: ChannelEnds["asking"];
  readonly #turn: string;
  readonly #names = new Map<string, string>();
  #pending: Pending[] = [];
  #depth: "none" | "begun" | "sent" = "none";
  #ending = false;
  #unlimited = false;
  #now: Pending | null = null;
  #clock: { ahead: number; at: number } | null = null;
  #together: Together[] = [];
  #unsure = false;

  constructor(channel: ChannelEnds["asking"], schema: string) {
    this.#channel = channel;
    this.#turn = `SELECT pg_advisory_xact_lock(${WRITER_LOCK}, hashtext('${schema}'))`;
  }

  sql(text: string, options?: { lists: boolean }): Statement {
    const { text: said, order } = translate(text);
    const lists = options?.lists === true;
    const push = (values: Values) => this.#push(this.#request(said, valuesIn(order, values), lists));
    return {
      get: (...values) => this.#answerOf(push(values)).rows[0] as Row | undefined,
      all: (...values) => this.#answerOf(push(values)).rows,
      run: (...values) => {
        const pending = push(values);
        // Outside a transaction nothing else would send it.
        if (this.#depth === "none") this.#flush();
        return this.#changes(pending);
      },
    };
  }

  bulk(text: string, values: readonly WireValue[]): () => { rows: unknown[]; count: number } {
    const pending = this.#push(this.#request(text, values, false));
    return () => this.#answerOf(pending);
  }

  first(text: string, values: Values): () => Row | undefined {
    const { text: said, order } = translate(text);
    const answer = this.bulk(said, valuesIn(order, values));
    return () => answer().rows[0] as Row | undefined;
  }

  /** Several statements without values. */
  script(text: string): void {
    this.#push({ text, name: null, values: [], lists: false });
    this.#flush();
  }

  write<T>(work: () => T, options: WriteOptions = {}): T {
    return this.#persist(() => this.#attempt(work, options.durable ?? false, TIME_UNLESS_CRASHED));
  }

  /** May take as long as it takes, and waits as long for its turn: for what is done once, before anybody works. */
  writeUnlimited<T>(work: () => T): T {
    this.#unlimited = true;
    try {
      return this.#persist(() => this.#attempt(work, true, TIME, NO_LIMITS));
    } finally {
      this.#unlimited = false;
    }
  }

  #persist<T>(attempt: () => T): T {
    for (let tries = 1; ; tries += 1) {
      try {
        return attempt();
      } catch (error) {
        if (error instanceof Forgotten) this.#attempt(() => endLeases((text) => this.sql(text).run()), true, TIME);
        else if (!(error instanceof Undone)) throw error;
        else if (tries === TRIES) throw postgresError(error.error);
      }
    }
  }

  #attempt<T>(work: () => T, durable: boolean, time: string, first: readonly string[] = []): T {
    this.#begin("BEGIN", ...first, ...(durable ? ["SET LOCAL synchronous_commit = on"] : []), this.#turn, time);
    this.#now = this.#pending.at(-1) as Pending;
    try {
      const result = work();
      this.#ending = true;
      this.#word("COMMIT");
      this.#flush();
      return result;
    } catch (error) {
      this.#giveUp();
      throw error;
    } finally {
      this.#depth = "none";
      this.#ending = false;
      this.#now = null;
    }
  }

  #begin(...words: string[]): void {
    if (this.#depth !== "none") throw new Error("a transaction within a transaction");
    this.#depth = "begun";
    for (const word of words) this.#word(word);
  }

  #giveUp(): void {
    this.#pending = [];
    if (this.#depth !== "sent") return;
    // A connection that is lost has given up by itself.
    const rollback = { text: "ROLLBACK", name: null, values: [], lists: false };
    ask(this.#channel, { requests: [rollback], fresh: false });
  }

  writeTogether<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#together.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (this.#together.length === 1) setImmediate(() => this.#commitTogether());
    });
  }

  #commitTogether(): void {
    const list = this.#together;
    this.#together = [];
    if (list.length === 0) return;
    try {
      const ends = this.write(() => list.map((one) => this.#apart(one, list.length > 1)), { durable: true });
      for (const end of ends) end();
    } catch (error) {
      for (const one of list) one.reject(error);
    }
  }

  /** One of several in a transaction: what it did before it failed is undone, the others stay. */
  #apart({ work, resolve, reject }: Together, several: boolean): () => void {
    const savepoint = several ? this.#word("SAVEPOINT one") : null;
    try {
      const result = work();
      if (several) {
        this.#word("RELEASE one");
        this.#flush();
      }
      return () => resolve(result);
    } catch (error) {
      if (savepoint === null || error instanceof Undone) throw error;
      const unsent = this.#pending.indexOf(savepoint);
      // What was to be sent before it is not this one's.
      this.#pending = this.#pending.slice(0, Math.max(0, unsent));
      if (unsent === -1) {
        // Without it the transaction itself has not begun.
        if (savepoint.answer === null) throw error;
        this.#word("ROLLBACK TO one");
        this.#word("RELEASE one");
      }
      return () => reject(error);
    }
  }

  read<T>(work: () => T): T {
    return this.#persist(() => this.#look(work));
  }

  #look<T>(work: () => T): T {
    this.#begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    try {
      return work();
    } finally {
      this.#giveUp();
      this.#depth = "none";
    }
  }

  close(): void {
    this.#commitTogether();
  }

  /** Whether there was a transaction, since this was last asked, of which nobody knows whether it is kept. */
  takeUnsure(): boolean {
    const unsure = this.#unsure;
    this.#unsure = false;
    return unsure;
  }

  /**
   * The database's clock: in a transaction that writes the time at which its turn came. Who only reads, and decides nothing
   * by it, is told by how much the clocks differ; that is asked now and then.
   */
  now(): number {
    if (this.#now !== null) return this.#timeIn(this.#now);
    const before = performance.now();
    if (this.#clock !== null && before - this.#clock.at < CLOCK_BELIEVED_MS) return before + this.#clock.ahead;
    const now = this.#timeIn(this.#push(this.#request(TIME, [], false)));
    const at = performance.now();
    this.#clock = { ahead: now - (before + at) / 2, at };
    return now;
  }

  #timeIn(pending: Pending): number {
    return (this.#answerOf(pending).rows[0] as { now: number }).now;
  }

  #word(text: string): Pending {
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

  #changes(pending: Pending): Changes {
    const answerOf = () => this.#answerOf(pending);
    return {
      get changes() {
        return answerOf().count;
      },
    };
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
    refuseTooMuch(list);
    const fresh = this.#depth !== "sent";
    if (this.#depth === "begun") this.#depth = "sent";
    const patienceMs = this.#unlimited ? Number.POSITIVE_INFINITY : undefined;
    const answers = ask(this.#channel, { requests: list.map(({ request }) => request), fresh }, patienceMs);
    for (const [index, one] of answers.entries()) {
      if ("error" in one) throw this.#meaningOf(one.error, (list[index] as Pending).request.text);
      (list[index] as Pending).answer = one;
    }
  }

  /** Before its end was asked for nothing of a transaction is kept, and it may be tried again as a whole. */
  #meaningOf(error: PlainError, text: string): Error {
    if (saysCrashed(error, text)) return new Forgotten();
    const lost = isConnectionLost(error);
    // What could not be reached a moment ago is not asked again at once.
    const undone = this.#depth !== "none" && (isConflict(error) || (lost && !this.#ending && error.unsent !== true));
    if (lost && this.#ending && error.unsent !== true) this.#unsure = true;
    if (lost) this.#depth = this.#depth === "none" ? "none" : "begun";
    return undone ? new Undone(error) : postgresError(error, text);
  }
}

/**
 * All values of a statement become one string, and of a string that is too long `pg` says so when the rest of the
 * transaction, with its end, is on its way. Escaped, what is let through here is half of what a string may have.
 */
const MOST_CHARACTERS = 2 ** 27;

function refuseTooMuch(list: readonly Pending[]): void {
  for (const { request } of list)
    if (request.values.reduce((sum: number, value) => sum + lengthOf(value), 0) > MOST_CHARACTERS)
      throw new Error("this is more than can be written at once");
}

function lengthOf(value: WireValue): number {
  if (typeof value === "string") return value.length;
  // As hexadecimal digits, where it stands in a list.
  if (value instanceof Uint8Array) return 2 * value.byteLength;
  return Array.isArray(value) ? value.reduce((sum: number, one: WireValue) => sum + lengthOf(one), 0) : 20;
}

function valuesIn(order: readonly (number | string)[], values: Values): WireValue[] {
  const [first] = values;
  const named = first !== null && typeof first === "object" && !(first instanceof Uint8Array) ? first : null;
  return order.map((key) => cleaned(named === null ? (values[key as number] as Value) : (named[key] as Value)));
}
