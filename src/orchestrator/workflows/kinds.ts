import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { JobDeps } from "../jobs/deps.ts";

export interface StepKindView {
  kind: string;
  about: string;
  /** A JSON Schema (2020-12). */
  params: JsonValue;
}

/** Every kind of step that definitions may name, with what its params are. */
export async function listStepKinds({ stepKinds }: Pick<JobDeps, "stepKinds">): Promise<StepKindView[]> {
  return (await stepKinds()).all().map(({ kind, about, params }) => ({ kind, about, params }));
}
