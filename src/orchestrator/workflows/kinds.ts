import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { JobDeps } from "../jobs/deps.ts";

export interface StepKindView {
  kind: string;
  about: string;
  /** A JSON Schema (2020-12). */
  params: JsonValue;
}

/** Every step kind that definitions may use, with the schema of its params. */
export async function listStepKinds({ stepKinds }: Pick<JobDeps, "stepKinds">): Promise<StepKindView[]> {
  return (await stepKinds()).all().map(({ kind, about, params }) => ({ kind, about, params }));
}
