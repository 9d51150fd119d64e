import { after, before } from "node:test";
import { engineContract } from "../contract/engine.ts";
import { PostgresBench } from "../store/postgres-bench.ts";
import { startRedis, type TestService } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { bullmqHarness } from "./bullmq-harness.ts";

let redis: TestService;
let postgres: PostgresBench;
let scenes = 0;

if (servicesGate.skip === undefined) {
  before(async () => {
    [redis, postgres] = await Promise.all([startRedis(), PostgresBench.start(true)]);
  });
  after(async () => {
    await postgres[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });
}

const harness = () => bullmqHarness(redis, postgres, `orb-${(scenes += 1)}`)();
engineContract("bullmq", harness, { ...servicesGate, many: true });
