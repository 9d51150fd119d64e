import { Redis } from "ioredis";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRandom } from "../../src/base/random.ts";
import { TicketClient } from "../../src/engine/bullmq/client.ts";
import { BullmqEngine } from "../../src/engine/bullmq/engine.ts";
import { queueOf, ticketId } from "../../src/engine/bullmq/names.ts";
import type { EngineHarness } from "../contract/engine-kit.ts";
import { Cable } from "../support/cable.ts";
import type { PostgresBench } from "../store/postgres-bench.ts";
import type { TestService } from "../support/services.ts";

/** Looks into Redis, and changes things there. */
export function adminOf(service: TestService): Redis & Disposable {
  const redis = new Redis(service.url);
  redis.on("error", () => {});
  return Object.assign(redis, { [Symbol.dispose]: () => redis.disconnect() });
}

/** What is asked by whoever issues tickets for lanes of which no store knows. */
export const noPriorities = { lanePriorities: async (lanes: readonly string[]) => lanes.map(() => 0) };

/** Processes that find their work by a Redis, each over a line of its own that can be cut. */
export const bullmqHarness = (redis: TestService, postgres: PostgresBench, prefix: string) => async () => {
  const { open } = await postgres.harness();
  const store = await open();
  const client = new TicketClient({ store, redisUrl: redis.url, prefix, clock: systemClock, log: silentLog });
  const admin = adminOf(redis);
  const cables: Cable[] = [];
  const harness: EngineHarness = {
    many: true,
    // Kept for the next scenario.
    openStore: async () => ({ ...(await open()), close: async () => {} }),
    make: async (makings) => {
      const cable = await Cable.to(redis.port);
      cables.push(cable);
      const url = new URL(redis.url);
      url.port = String(cable.port);
      const engine = new BullmqEngine({
        ...makings,
        clock: systemClock,
        random: systemRandom,
        identity: { boot: "boot", pid: makings.pid, pidStart: "1" },
        redisUrl: url.href,
        prefix,
      });
      return { engine, cut: () => cable.cut(), freeze: () => cable.freeze(), thaw: () => cable.thaw() };
    },
    poke: async (_, lanes) => void (await client.poke(lanes)),
    wipe: async () => void (await admin.flushall()),
    double: async (lane) => {
      const key = `${prefix}:${queueOf(lane)}`;
      await admin.lrem(`${key}:active`, 1, ticketId(lane));
      await admin.del(`${key}:${ticketId(lane)}`);
      await client.poke([lane]);
    },
    close: async () => {
      await client.close();
      admin[Symbol.dispose]();
      for (const cable of cables) cable.cut();
    },
  };
  return harness;
};
