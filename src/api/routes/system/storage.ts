import { showStorage } from "../../../orchestrator/storage.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, nullable, oneOf, strict, Time } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Storage = strict({
  used_bytes: nullable({
    ...Count,
    description:
      "the database and the files, measured once an hour; on Postgres the files alone. null: not measured yet",
  }),
  measured_at: nullable(Time),
  budget_bytes: nullable({ ...Count, description: "APP_DISK_BUDGET_MB; null: there is no budget" }),
  action: oneOf(["warn", "remove"], { description: "what happens beyond the budget, APP_DISK_BUDGET_ACTION" }),
  is_near: Type.Boolean({ description: "80 % of the budget or more are used" }),
  warned_at: nullable({ ...Time, description: "since when; the oldest runs are removed a day later at the earliest" }),
});

export function storageRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/storage",
    {
      schema: {
        summary: "How much room what is kept takes, and may take",
        operationId: "getStorage",
        tags: ["server"],
        response: { 200: Storage },
      },
    },
    () => showStorage(deps),
  );
}
