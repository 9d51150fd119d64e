import { findPostgres, findRedis } from "../../src/supervisor/services/programs.ts";
import { gate } from "./gate.ts";

/** For suites that run a Redis and a Postgres of their own. */
export const servicesGate = gate(
  "managed services",
  findRedis() !== null && findPostgres() !== null,
  "redis-server or postgres is not installed",
);
