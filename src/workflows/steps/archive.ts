import { distinctFiles } from "../items/distinct-files.ts";
import { inOrder } from "../items/in-order.ts";
import { forwardInputs } from "../items/forward-inputs.ts";
import type { StepContext, StepKind } from "../step-kind.ts";

/** Compression runs on other threads; more at once would only compete for them. */
const AT_ONCE = 2;
const DAY_MS = 24 * 3_600_000;

interface ArchiveParams {
  min_bytes?: number;
  older_than_days?: number;
}

/** Moves the files of its items to the archive tier. They stay readable as before. */
export const archiveStep: StepKind<ArchiveParams> = {
  kind: "archive",
  about: "Moves the files of its items to the archive folder, compressed if that saves space; they stay readable.",
  params: {
    type: "object",
    properties: {
      min_bytes: { type: "integer", minimum: 0, description: "Do not move smaller files. Default: move all." },
      older_than_days: {
        type: "number",
        minimum: 0,
        description:
          "Do not move files that were stored, or stored again with the same content, within this many days. Default: move all.",
      },
    },
    additionalProperties: false,
  },
  async run(context, policy) {
    const output = { archived: 0, kept: 0, missing: 0, bytes_before: 0, bytes_after: 0 };
    const moved = inOrder(distinctFiles(context), AT_ONCE, (hash) => archive(context, policy, hash));
    for await (const sizes of moved) {
      context.signal.throwIfAborted();
      if (sizes === "kept") output.kept += 1;
      else if (sizes === null) output.missing += 1;
      else {
        output.archived += 1;
        output.bytes_before += sizes.before;
        output.bytes_after += sizes.after;
      }
      context.progress(output.archived, null, `${output.archived} files`);
    }
    return { kind: "done", output, ...forwardInputs(context) };
  },
};

async function archive(
  { files }: StepContext,
  { min_bytes: minBytes = 0, older_than_days: days = 0 }: ArchiveParams,
  hash: string,
): Promise<{ before: number; after: number } | "kept" | null> {
  if (minBytes > 0) {
    const size = await files.sizeOf(hash);
    if (size !== null && size < minBytes) return "kept";
  }
  if (days > 0) {
    // A file in the archive tier has no age: moving it again is a no-op.
    const ageMs = await files.ageOf(hash);
    if (ageMs !== null && ageMs < days * DAY_MS) return "kept";
  }
  return files.coolDown(hash);
}
