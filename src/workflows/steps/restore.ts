import { distinctFiles } from "../items/distinct-files.ts";
import { inOrder } from "../items/in-order.ts";
import { forwardInputs } from "../items/forward-inputs.ts";
import type { StepKind } from "../step-kind.ts";

const AT_ONCE = 2;

/** Reverses `archive`. */
export const restoreStep: StepKind<Record<string, never>> = {
  kind: "restore",
  about:
    "Restores archived files of its items, decompressed. The copies in the archive folder stay until the files are deleted.",
  params: { type: "object", properties: {}, additionalProperties: false },
  async run(context) {
    const output = { restored: 0, missing: 0, bytes: 0 };
    const moved = inOrder(distinctFiles(context), AT_ONCE, (hash) => context.files.warmUp(hash));
    for await (const size of moved) {
      context.signal.throwIfAborted();
      if (size === null) output.missing += 1;
      else {
        output.restored += 1;
        output.bytes += size;
      }
      context.progress(output.restored, null, `${output.restored} files`);
    }
    return { kind: "done", output, ...forwardInputs(context) };
  },
};
