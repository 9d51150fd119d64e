import { OrbError } from "../../../base/errors.ts";
import type { Context } from "../kernel/context.ts";
import type { StepItems } from "./workflow-items.ts";

export function requireStep({ connection }: Context, run: number, index: number): StepItems {
  const row = connection.sql("SELECT * FROM steps WHERE run = ? AND idx = ?").get(run, index);
  if (row === undefined) throw new OrbError("not_found", `the workflow has no step with the index ${index}`);
  return row as unknown as StepItems;
}
