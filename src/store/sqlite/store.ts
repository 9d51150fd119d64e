import type { Clock } from "../../base/clock.ts";
import type { Store } from "../ports/port.ts";
import type { Context } from "../sql/kernel/context.ts";
import { storeMethods } from "../sql/store.ts";
import { SqliteConnection } from "./connection.ts";
import { storeError } from "./errors.ts";
import { migrate } from "./migrate.ts";

/**
 * SQLite on the main thread. Transactions take well under a millisecond per batch; a thread of its own was measured
 * and lost (docs/decisions/0001-sqlite-on-the-main-thread.md).
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
  return speakOurErrors({
    capabilities: { singleEngine: true, notifies: false },
    instance,
    deployment: instance,
    close,
    // Other processes are not heard of: they poke the engine, or are found by asking.
    watch: () => () => {},
    [Symbol.asyncDispose]: close,
    ...storeMethods(context),
  });
}

/** Writes translate their errors themselves; this does it for what is read outside a transaction. */
function speakOurErrors(store: Store): Store {
  type Verb = (...args: unknown[]) => Promise<unknown>;
  const methods = store as unknown as Record<string, unknown>;
  for (const [name, method] of Object.entries(methods)) {
    if (typeof method !== "function" || name === "watch") continue;
    methods[name] = (...args: unknown[]) =>
      (method as Verb)(...args).catch((error: unknown) => {
        throw storeError(error);
      });
  }
  return store;
}
