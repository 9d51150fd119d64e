import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { storeContract } from "../contract/store.ts";

storeContract("SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "orb-store-"));
  const times = { wall: Date.parse("2030-01-01T00:00:00Z"), mono: 1_000_000 };
  const clock: Clock = { now: () => times.wall, monotonic: () => times.mono, after: () => ({ cancel: () => {} }) };
  const opened: Store[] = [];
  return {
    clock: times,
    async open() {
      const store = openSqliteStore({ path: join(folder, "orb.db"), clock });
      opened.push(store);
      return store;
    },
    async close() {
      for (const store of opened) await store.close();
      await rm(folder, { recursive: true });
    },
  };
});
