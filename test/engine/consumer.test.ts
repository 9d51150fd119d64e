import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { Signal } from "../../src/base/signal.ts";
import { TicketConsumer } from "../../src/engine/bullmq/consumer.ts";
import { redisAt } from "../../src/engine/bullmq/redis.ts";
import { somePort } from "../support/services.ts";

test("a process that never reached Redis can stop", async () => {
  const redis = redisAt(`redis://127.0.0.1:${await somePort()}`);
  const consumer = new TicketConsumer({
    redis,
    prefix: "orb",
    queue: "sites",
    owner: "this one",
    clock: systemClock,
    log: silentLog,
    lockMs: 5000,
    mayTake: () => true,
    room: new Signal(),
    onTicket: () => {},
  });
  consumer.start();
  // Its own connection waits for its next try then, as this one does.
  for (let tries = 0; tries < 3; tries += 1) await new Promise((resolve) => redis.once("reconnecting", resolve));
  await consumer.halt();
  consumer.close();
  redis.disconnect();
});
