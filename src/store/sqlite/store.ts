import type { Clock } from "../../base/clock.ts";
import type { Store } from "../ports/port.ts";
import type { Context } from "../sql/kernel/context.ts";
import { storeMethods } from "../sql/store.ts";
import { SqliteConnection } from "./connection.ts";
import { storeError } from "./errors.ts";
import { migrate } from "./migrate.ts";

/**
 * SQLite on the main thread. Transactions take well under a millisecond per batch; a separate thread was measured and
 * was slower (docs/decisions/0001-sqlite-on-the-main-thread.md).
 */
export function openSqliteStore(options: { path: string; clock: Clock; connection?: SqliteConnection }): Store {
  const connection = options.connection ?? new SqliteConnection(options.path);
  try {
    migrate(connection);
  } catch (error) {
    connection.close();
    throw storeError(error);
  }
  const { value: instance } = connection.sql("SELECT value FROM meta WHERE name = 'instance'").get() as {
    value: string;
  };
  const context: Context = {
    connection,
    instance,
    singleEngine: true,
    leaseNow: () => options.clock.monotonic(),
    wallNow: () => options.clock.now(),
  };
  const close = async () => connection.close();
  return withMappedErrors({
    capabilities: { singleEngine: true, notifies: false },
    instance,
    deployment: instance,
    close,
    // No notifications of other processes: they poke the engine, or polling finds their writes.
    watch: () => () => {},
    [Symbol.asyncDispose]: close,
    ...storeMethods(context),
  });
}

/** Writes map their errors themselves; this covers reads outside a transaction. */
function withMappedErrors(store: Store): Store {
  type StoreMethod = (...args: unknown[]) => Promise<unknown>;
  const methods = store as unknown as Record<string, unknown>;
  for (const [name, method] of Object.entries(methods)) {
    if (typeof method !== "function" || name === "watch") continue;
    methods[name] = (...args: unknown[]) =>
      (method as StoreMethod)(...args).catch((error: unknown) => {
        throw storeError(error);
      });
  }
  return store;
}
