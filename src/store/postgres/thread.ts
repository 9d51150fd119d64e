/** A thread that executes store methods one after the other, and blocks while the database works. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { asCaller, type Caller } from "../../domain/access/caller.ts";
import { isOrbError, type ErrorCode, type FieldError, messageOf } from "../../base/errors.ts";
import { bumpControl, type Context } from "../sql/kernel/context.ts";
import { STORE_ACCESS, type StoreMethods, type WriteScope } from "../ports/access.ts";
import type { Connection } from "../sql/kernel/connection.ts";
import { storeMethods } from "../sql/store.ts";
import { PostgresConnection } from "./connection.ts";
import { deploymentOf } from "./deployment.ts";
import type { ChannelEnds } from "./sync-channel.ts";
import { migrate } from "./migrate.ts";

export interface ThreadData {
  channel: ChannelEnds["asking"];
  schema: string;
  /** Migrates the schema first. */
  migrates: boolean;
}

export interface Call {
  id: number;
  method: string;
  args: unknown[];
  wallNow: number;
  /** Replaces the database's clock. */
  leaseNow: number | null;
  /** For whom; absent: the program itself. */
  caller?: Caller;
}

/** `conflicts`: transactions that were executed again, since the last result. */
export type CallResult = { id: number; conflicts: number } & ({ value: unknown } | { error: PlainCallError });
export type PlainCallError =
  | { orb: { code: ErrorCode; message: string; hint?: string; fields: readonly FieldError[] } }
  | { plain: { message: string; stack?: string } };
export interface Opened {
  instance: string;
  deployment: string;
  methods: string[];
  /** null: this thread does not migrate. */
  migrated: { from: number; to: number; applied: string[] } | null;
}
export type Ready = { ready: Opened } | { refused: PlainCallError };

const { channel, schema, migrates } = workerData as ThreadData;
const port = parentPort as MessagePort;
const connection = new PostgresConnection(channel, schema);
let times: Pick<Call, "wallNow" | "leaseNow"> = { wallNow: 0, leaseNow: null };

const NOTIFY_RETRY_MS = 250;
let notifyTimer: NodeJS.Timeout | null = null;

/**
 * Without an answer to a COMMIT, the caller does not know which lanes it opened, and a repeated call finds the work
 * done. So all workers are notified to look, as soon as the database accepts writes.
 */
function notifyAll(context: Context): void {
  notifyTimer ??= setTimeout(() => {
    notifyTimer = null;
    try {
      connection.write(() => bumpControl(context));
    } catch {
      notifyAll(context);
    }
  }, NOTIFY_RETRY_MS).unref();
}

function toPlainError(error: unknown): PlainCallError {
  if (isOrbError(error)) {
    const { code, message, hint, fields } = error;
    return { orb: { code, message, fields, ...(hint === undefined ? {} : { hint }) } };
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return { plain: { message: messageOf(error), ...(stack === undefined ? {} : { stack }) } };
}

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

function open(): { methods: Methods; context: Context } {
  const migrated = migrates ? migrate(connection, schema) : null;
  const row = connection.sql("SELECT value FROM meta WHERE name = 'instance'").get() as { value: string };
  const contextOf = (scoped: Connection): Context => ({
    connection: scoped,
    instance: row.value,
    singleEngine: false,
    leaseNow: () => times.leaseNow ?? connection.now(),
    wallNow: () => times.wallNow,
  });
  const context = contextOf(connection);
  const scopes = { row: methodsIn("row"), runs: methodsIn("runs"), all: methodsIn("all"), read: storeMethods(context) };
  function methodsIn(scope: WriteScope): StoreMethods {
    return storeMethods(contextOf(connection.scoped(scope)));
  }
  const names = Object.keys(STORE_ACCESS) as (keyof StoreMethods)[];
  const methods = Object.fromEntries(
    names.map((name) => [name, scopes[STORE_ACCESS[name]][name]]),
  ) as unknown as Methods;
  const deployment = deploymentOf(connection, row.value, schema);
  const ready: Ready = { ready: { instance: row.value, deployment, methods: Object.keys(methods), migrated } };
  port.postMessage(ready);
  return { methods, context };
}

function serve(): void {
  const { methods, context } = open();
  port.on("message", (call: Call | "close") => {
    if (call === "close") {
      connection.close();
      // After the answers to the last writes.
      setImmediate(() => port.close());
      return;
    }
    times = call;
    const execute = () => methods[call.method]?.(...call.args);
    (call.caller === undefined ? execute() : asCaller(call.caller, execute))?.then(
      (value) => port.postMessage({ id: call.id, value, conflicts: connection.takeConflicts() } satisfies CallResult),
      (error: unknown) => {
        const conflicts = connection.takeConflicts();
        port.postMessage({ id: call.id, error: toPlainError(error), conflicts } satisfies CallResult);
        if (connection.takeCommitUnknown()) notifyAll(context);
      },
    );
  });
}

// All threads load at once; each starts on its first message.
port.once("message", () => {
  try {
    serve();
  } catch (error) {
    port.postMessage({ refused: toPlainError(error) } satisfies Ready);
    port.close();
  }
});
