import { contentTypeOf, MAGIC_BYTES } from "../../domain/page/file-magic.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { ImageInspector } from "../../images/inspector.ts";
import {
  faultsOfRules,
  type FileRules,
  type ImageRules,
  type Refusal,
  RULES_SCHEMA,
  type ValidateParams,
  whyNotFile,
  whyNotImage,
} from "../file-rules.ts";
import { hashOf, mediaTypeOf } from "../items/item-keys.ts";
import { readItems, writeItems } from "../items/items-file.ts";
import { asItemFacts, BATCH, fileOf, hasWrongExtension, inBatches, lookAt } from "../items/picture-facts.ts";
import type { Item, StepContext, StepKind } from "../step-kind.ts";

/** The verdict on one item. */
interface Verdict {
  reason: Refusal | null;
  facts: Record<string, JsonValue>;
}

type Judge = (context: StepContext, items: readonly Item[]) => Promise<Verdict[]>;

/** Checks the files of the items, and forwards the valid ones. */
export function validateStep(inspector: ImageInspector): StepKind<ValidateParams> {
  return {
    kind: "validate",
    about: "Decodes the incoming images, or checks files of any kind, and passes on the valid ones.",
    params: RULES_SCHEMA,
    check: faultsOfRules,
    async run(context, params) {
      const judge = params.kind === "file" ? fileJudge(params) : imageJudge(inspector, params);
      const counts = { valid: 0, invalid: 0, reasons: {} as Record<string, number> };
      // Written to disk with the verdicts: there may be more than fits into memory.
      const judged = await writeItems(context.files, "judged.jsonl", judgedItems(context, judge, counts));
      const which = (valid: boolean) => withVerdict(readItems(context.files, judged.items), valid);
      const refused = await writeItems(context.files, "invalid.jsonl", which(false));
      return { kind: "done", output: counts, items: which(true), files: refused.file === null ? [] : [refused.file] };
    },
  };
}

async function* judgedItems(
  context: StepContext,
  judge: Judge,
  counts: { valid: number; invalid: number; reasons: Record<string, number> },
): AsyncGenerator<Item> {
  let total = 0;
  for await (const _ of context.inputs()) total += 1;
  for await (const items of inBatches(context.inputs(), BATCH)) {
    const verdicts = await judge(context, items);
    for (const [at, { reason, facts }] of verdicts.entries()) {
      if (reason === null) counts.valid += 1;
      else {
        counts.invalid += 1;
        counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1;
      }
      yield { ...items[at], ...facts, valid: reason === null, reason };
    }
    context.progress(counts.valid + counts.invalid, total);
  }
}

async function* withVerdict(items: AsyncIterable<Item>, valid: boolean): AsyncGenerator<Item> {
  for await (const item of items) if (item["valid"] === valid) yield item;
}

function imageJudge(inspector: ImageInspector, rules: ImageRules): Judge {
  return async (context, items) => {
    const seen = await lookAt(context, inspector, items);
    return items.map((item) => {
      const facts = seen.get(hashOf(item) ?? "");
      if (facts === undefined) return { reason: "missing", facts: {} };
      const wrong = hasWrongExtension(item, facts.format === null ? null : `image/${facts.format}`);
      return { reason: whyNotImage(facts, wrong, rules), facts: { image: asItemFacts(facts, wrong) } };
    });
  };
}

function fileJudge(rules: FileRules): Judge {
  return (context, items) =>
    Promise.all(
      items.map(async (item) => {
        const sha256 = await fileOf(context, item);
        if (sha256 === null) return { reason: "missing", facts: {} };
        context.signal.throwIfAborted();
        const found = contentTypeOf(await startOf(context, sha256));
        // Plain text has no magic bytes: trust the server's type.
        const contentType = found ?? mediaTypeOf(item);
        const wrongExtension = hasWrongExtension(item, found);
        const bytes = (await context.files.sizeOf(sha256)) ?? 0;
        return {
          reason: whyNotFile({ sha256, bytes, contentType, wrongExtension }, rules),
          facts: { file: { content_type: contentType, wrong_extension: wrongExtension } },
        };
      }),
    );
}

async function startOf({ files }: StepContext, hash: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of files.open(hash)) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length >= MAGIC_BYTES) break;
  }
  return Buffer.concat(chunks);
}
