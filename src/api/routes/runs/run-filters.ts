/** Filters of runs, in a query and in a body. */
import type { Static } from "typebox";
import { RUN_KINDS, RUN_STATES, type RunState } from "../../../domain/run/states.ts";
import { oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

const shared = {
  kind: Type.Optional(oneOf(RUN_KINDS)),
  site: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  job_id: Type.Optional(Type.Unsafe<string>({ ...Uuid, description: "only runs of this job" })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        "part of the name or URL (of the newest 10,000 runs), or the id of any run, or at least its first 8 characters",
    }),
  ),
  parent: Type.Optional(
    Type.String({
      pattern: "^(?:none|any|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$",
      description:
        "none: only runs that no workflow started; the id of a workflow: only its child runs; any (default): all",
    }),
  ),
  since: Type.Optional(Type.Unsafe<string>({ ...Time, description: "created at this time or later" })),
  until: Type.Optional(Type.Unsafe<string>({ ...Time, description: "created before this time" })),
};

/** In a query. */
export const runQuery = {
  status: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: `^(?:${RUN_STATES.join("|")})(?:,(?:${RUN_STATES.join("|")}))*$`,
      description: `one or several, separated by commas: ${RUN_STATES.join(", ")}`,
    }),
  ),
  ...shared,
};

/** In a body. */
export const RunChoice = strict({
  status: Type.Optional(Type.Array(oneOf(RUN_STATES), { minItems: 1, maxItems: RUN_STATES.length, uniqueItems: true })),
  ...shared,
  run_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: "only runs with these ids" })),
});

type FilterQuery = Partial<Omit<Static<typeof RunChoice>, "status">>;

export function filterOf({ kind, site, job_id, q, parent, since, until, run_ids }: FilterQuery) {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(site === undefined ? {} : { site }),
    ...(job_id === undefined ? {} : { jobId: job_id.toLowerCase() }),
    ...(q === undefined ? {} : { q }),
    ...(parent === undefined || parent === "any" ? {} : { parent: parent.toLowerCase() }),
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    ...(until === undefined ? {} : { until: Date.parse(until) }),
    ...(run_ids === undefined ? {} : { ids: run_ids.map((id) => id.toLowerCase()) }),
  };
}

/** Comma-separated states. */
export function statesOf(text: string | undefined): { status?: RunState[] } {
  return text === undefined ? {} : { status: [...new Set(text.split(","))] as RunState[] };
}
