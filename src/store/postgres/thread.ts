/** A thread in which methods of the store are carried out, one after the other, standing still while the database works. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isOrbError, type ErrorCode, type FieldError, messageOf } from "../../base/errors.ts";
import { bumpControl, type Context } from "../sql/kernel/context.ts";
import { storeMethods } from "../sql/store.ts";
import { PostgresConnection } from "./connection.ts";
import { deploymentOf } from "./deployment.ts";
import type { ChannelEnds } from "./sync-channel.ts";
import { migrate } from "./migrate.ts";

export interface ThreadData {
  channel: ChannelEnds["asking"];
  schema: string;
  /** Brings the schema up to date before anything else. */
  migrates: boolean;
}

export interface Call {
  id: number;
  method: string;
  args: unknown[];
  wallNow: number;
  /** Instead of the database's clock. */
  leaseNow: number | null;
}

export type Said = { id: number; value: unknown } | { id: number; error: SaidError };
export type SaidError =
  | { orb: { code: ErrorCode; message: string; hint?: string; fields: readonly FieldError[] } }
  | { plain: { message: string; stack?: string } };
export interface Opened {
  instance: string;
  deployment: string;
  methods: string[];
  /** null: it was not asked to. */
  migrated: { from: number; to: number; applied: string[] } | null;
}
export type Ready = { ready: Opened } | { refused: SaidError };

const { channel, schema, migrates } = workerData as ThreadData;
const port = parentPort as MessagePort;
const connection = new PostgresConnection(channel, schema);
let times: Pick<Call, "wallNow" | "leaseNow"> = { wallNow: 0, leaseNow: null };

const TELL_MS = 250;
let telling: NodeJS.Timeout | null = null;

/**
 * Whoever has no answer to a commit cannot tell which lanes it has opened, and whoever does the same again finds it done:
 * so all who work are told to look, as soon as the database can be written.
 */
function tellAll(context: Context): void {
  telling ??= setTimeout(() => {
    telling = null;
    try {
      connection.write(() => bumpControl(context));
    } catch {
      tellAll(context);
    }
  }, TELL_MS).unref();
}

function said(error: unknown): SaidError {
  if (isOrbError(error)) {
    const { code, message, hint, fields } = error;
    return { orb: { code, message, fields, ...(hint === undefined ? {} : { hint }) } };
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return { plain: { message: messageOf(error), ...(stack === undefined ? {} : { stack }) } };
}

function open(): { methods: Record<string, (...args: unknown[]) => Promise<unknown>>; context: Context } {
  const migrated = migrates ? migrate(connection, schema) : null;
  const row = connection.sql("SELECT value FROM meta WHERE name = 'instance'").get() as { value: string };
  const context: Context = {
    connection,
    instance: row.value,
    singleEngine: false,
    leaseNow: () => times.leaseNow ?? connection.now(),
    wallNow: () => times.wallNow,
  };
  const methods = storeMethods(context) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
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
      // Behind the answers to what was still written.
      setImmediate(() => port.close());
      return;
    }
    times = call;
    methods[call.method]?.(...call.args).then(
      (value) => port.postMessage({ id: call.id, value } satisfies Said),
      (error: unknown) => {
        port.postMessage({ id: call.id, error: said(error) } satisfies Said);
        if (connection.takeUnsure()) tellAll(context);
      },
    );
  });
}

// All threads load at once; each begins when its turn has come.
port.once("message", () => {
  try {
    serve();
  } catch (error) {
    port.postMessage({ refused: said(error) } satisfies Ready);
    port.close();
  }
});
