import { inOrder } from "../in-order.ts";
import { hashOf } from "../item-keys.ts";
import { passedOn } from "../passed-on.ts";
import type { StepContext, StepKind } from "../step-kind.ts";

/** Compressing is done on other threads; more at once would only take them from each other. */
const AT_ONCE = 2;

/** Moves the files of its items to the cold place. They stay what they are to everybody who reads them. */
export const archiveStep: StepKind<Record<string, never>> = {
  kind: "archive",
  about: "Moves the files of its items to the cold place, compressed where that pays; they can be read as before.",
  params: { type: "object", properties: {}, additionalProperties: false },
  async run(context) {
    const output = { archived: 0, missing: 0, bytes_before: 0, bytes_after: 0 };
    const moved = inOrder(distinctFiles(context), AT_ONCE, (hash) => context.files.coolDown(hash));
    for await (const sizes of moved) {
      context.signal.throwIfAborted();
      if (sizes === null) output.missing += 1;
      else {
        output.archived += 1;
        output.bytes_before += sizes.before;
        output.bytes_after += sizes.after;
      }
      context.progress(output.archived, null, `${output.archived} files`);
    }
    return { kind: "done", output, ...passedOn(context) };
  },
};

async function* distinctFiles({ inputs }: StepContext): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const item of inputs()) {
    const hash = hashOf(item);
    if (hash === null || seen.has(hash)) continue;
    seen.add(hash);
    yield hash;
  }
}
