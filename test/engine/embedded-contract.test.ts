import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { EmbeddedEngine } from "../../src/engine/embedded/engine.ts";
import { createLink, poke, socketPath, watchEngine } from "../../src/engine/embedded/link.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { engineContract } from "../contract/engine.ts";
import type { EngineHarness } from "../contract/engine-kit.ts";
import { tempDir } from "../support/temp-dir.ts";

async function harness(): Promise<EngineHarness> {
  const dir = tempDir();
  const path = join(dir.path, "orb.db");
  return {
    many: false,
    openStore: async () => openSqliteStore({ path, clock: systemClock }),
    make: async (makings) => {
      const link = createLink(socketPath(path));
      const engine = new EmbeddedEngine({
        ...makings,
        clock: systemClock,
        random: systemRandom,
        identity: { boot: "boot", pid: makings.pid, pidStart: "1" },
        link,
        watch: watchEngine,
        onRole: (role) => makings.onLead(role === "engine"),
      });
      return { engine, cut: () => void link.close(), freeze: () => {}, thaw: () => {} };
    },
    poke: async (store, lanes) => {
      const holder = await store.engineHolder();
      if (holder !== null) await poke(holder.address, lanes);
    },
    // It remembers nothing that is not in the process itself.
    wipe: async () => {},
    double: async () => {},
    close: async () => dir[Symbol.dispose](),
  };
}

engineContract("embedded", harness, { many: false });
