import { showStorage } from "../../../orchestrator/storage.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, nullable, oneOf, strict, Time } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Storage = strict({
  used_bytes: nullable({
    ...Count,
    description:
      "size of the database and files, measured once an hour; with Postgres, only the files. null: not measured yet",
  }),
  measured_at: nullable(Time),
  budget_bytes: nullable({ ...Count, description: "APP_DISK_BUDGET_MB; null: there is no budget" }),
  action: oneOf(["warn", "remove"], { description: "what happens when the budget is used up: APP_DISK_BUDGET_ACTION" }),
  is_near: Type.Boolean({ description: "at least 80 % of the budget is used" }),
  warned_at: nullable({ ...Time, description: "since when; the oldest runs are deleted at the earliest a day later" }),
});

export function storageRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/storage",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Disk usage of stored data, and its budget",
        operationId: "getStorage",
        tags: ["server"],
        response: { 200: Storage },
      },
    },
    () => showStorage(deps),
  );
}
