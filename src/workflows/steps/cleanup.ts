import { hashOf } from "../items/item-keys.ts";
import { forwardInputs } from "../items/forward-inputs.ts";
import type { StepContext, StepKind } from "../step-kind.ts";

interface CleanupParams {
  steps?: readonly string[];
  keep?: "items" | "nothing";
}

/** Per transaction. */
const AT_ONCE = 500;

/**
 * Deletes files of earlier steps of the run that its items no longer reference, such as invalid or duplicate images.
 * Content that anything else references stays.
 */
export const cleanupStep: StepKind<CleanupParams> = {
  kind: "cleanup",
  about: "Deletes files of earlier steps that its items do not reference, such as invalid and duplicate downloads.",
  params: {
    type: "object",
    properties: {
      steps: {
        type: "array",
        items: { type: "string", minLength: 1 },
        minItems: 1,
        maxItems: 1000,
        description:
          "Steps whose files are deleted, downloads and outputs. Default: the downloads of all earlier steps.",
      },
      keep: {
        enum: ["items", "nothing"],
        description: "items (default): keep files that the items reference. nothing: delete these files, too.",
      },
    },
    additionalProperties: false,
  },
  check({ steps }, earlier) {
    return ((steps as readonly string[] | undefined) ?? []).flatMap((name, index) =>
      earlier.includes(name) ? [] : [{ path: `params.steps[${index}]`, message: `"${name}" is not an earlier step` }],
    );
  },
  async run(context, { steps, keep = "items" }) {
    const kept = keep === "items" ? await filesOf(context) : new Set<string>();
    const output = { removed: 0, bytes: 0 };
    for (const step of steps ?? Object.keys(context.outputs))
      for (const which of steps === undefined ? (["downloads"] as const) : (["downloads", "made"] as const))
        await clean(context, step, which, kept, output);
    return { kind: "done", output, ...forwardInputs(context) };
  },
};

async function filesOf({ inputs }: StepContext): Promise<Set<string>> {
  const hashes = new Set<string>();
  for await (const item of inputs()) {
    const hash = hashOf(item);
    if (hash !== null) hashes.add(hash);
  }
  return hashes;
}

async function clean(
  context: StepContext,
  step: string,
  which: "downloads" | "made",
  kept: ReadonlySet<string>,
  output: { removed: number; bytes: number },
): Promise<void> {
  let batch: string[] = [];
  const drop = async () => {
    context.signal.throwIfAborted();
    const { rows, bytes } = await context.past.drop(batch);
    output.removed += rows;
    output.bytes += bytes;
    context.progress(output.removed, null, `${output.removed} files`);
    batch = [];
  };
  for await (const { id, hash } of context.past.filesOf(step, which)) {
    if (kept.has(hash)) continue;
    batch.push(id);
    if (batch.length === AT_ONCE) await drop();
  }
  if (batch.length > 0) await drop();
}
