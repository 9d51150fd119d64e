import { after, describe } from "node:test";
import { storeContract } from "../contract/store.ts";
import { servicesGate } from "../support/services-kit.ts";
import { PostgresBench } from "./postgres-bench.ts";

describe("Postgres", servicesGate, () => {
  const bench = PostgresBench.start();
  after(async () => (await bench)[Symbol.asyncDispose]());
  storeContract("Postgres", async () => (await bench).harness());
});
