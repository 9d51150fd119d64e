/** The shape of a definition as people write it. What depends on other parts of it is looked at by `validate`. */
import { Type } from "typebox";
import { MOST_STEPS, STEP_DEFAULTS } from "./definition.ts";

/** About ten years: more is a slip, and would not fit into the sums of milliseconds. */
const MOST_SECONDS = 315_360_000;

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A list, an expression that gives one, or `${{ steps.NAME.items }}` for all items of an earlier step. */
const LIST = [Type.Array(Type.Unknown()), Type.String({ minLength: 1 })] as const;

const ForEachInput = Type.Object(
  {
    in: Type.Union([...LIST], {
      description:
        "A list, an expression that returns a list, or ${{ steps.NAME.items }} for all items of an earlier step.",
    }),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: STEP_DEFAULTS.concurrency,
        description: "Maximum concurrent entries.",
      }),
    ),
    on_error: Type.Optional(
      Type.Enum(["stop", "finish", "continue"], {
        default: STEP_DEFAULTS.on_error,
        description: "What happens to the step when entries fail after all attempts.",
      }),
    ),
  },
  { additionalProperties: false },
);

const StepInput = Type.Object(
  {
    name: Type.String({ minLength: 1, description: "Unique in the workflow." }),
    task_type: Type.String({ minLength: 1, description: "The kind of the step." }),
    params: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Params of the step kind; ${{ … }} is resolved when the step starts.",
      }),
    ),
    dependencies: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Integer()]), {
        description: "Names or indices of earlier steps that must have ended.",
      }),
    ),
    max_retries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 20,
        default: STEP_DEFAULTS.max_retries,
        description: "Retries after the first attempt.",
      }),
    ),
    timeout: Type.Optional(
      nullable(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: MOST_SECONDS,
          description: "Time limit of one attempt, in seconds.",
        }),
      ),
    ),
    estimated_duration: Type.Optional(
      nullable(
        Type.Number({
          minimum: 0,
          maximum: MOST_SECONDS,
          description: "Expected duration in seconds; the weight of the step in the progress.",
        }),
      ),
    ),
    when: Type.Optional(
      nullable(Type.String({ minLength: 1, description: "An expression; when it is false the step is skipped." })),
    ),
    for_each: Type.Optional(
      Type.Union([ForEachInput, ...LIST, Type.Null()], { description: "A list is short for {in: LIST}." }),
    ),
  },
  { additionalProperties: false },
);

export const WorkflowInput = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    description: Type.Optional(nullable(Type.String({ maxLength: 5000 }))),
    params: Type.Optional(
      nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "JSON Schema (2020-12) of the params of a run, with defaults.",
        }),
      ),
    ),
    max_recovery_attempts: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, default: STEP_DEFAULTS.max_recovery_attempts }),
    ),
    steps: Type.Array(StepInput, { minItems: 1, maxItems: MOST_STEPS }),
  },
  { additionalProperties: false },
);
