import { setImmediate } from "node:timers/promises";
import type { FieldError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { evaluate } from "../../domain/workflow/expression-evaluate.ts";
import { wrongNames } from "../../domain/workflow/expression-names.ts";
import { parseExpression } from "../../domain/workflow/expression-parse.ts";
import { ExpressionError, type Node } from "../../domain/workflow/expression-syntax.ts";
import { truth, Work } from "../../domain/workflow/expression-values.ts";
import { detectLanguage } from "../../extract/article/language.ts";
import { charactersOf, measuredPart, measureText, type TextQuality } from "../../texts/quality.ts";
import type { FilterParams } from "../built-in-kinds.ts";
import { CONDITION_SCHEMAS, compileConditions, type Conditions, faultsOfConditions } from "../conditions.ts";
import { readItems, untilAborted, writeItems } from "../items/items-file.ts";
import { PATH_SCHEMA, textAt } from "../items/item-values.ts";
import type { Item, StepContext, StepKind } from "../step-kind.ts";
import { brokenRule, faultsOfLimits, isSpaceless, limitsOf, PRESETS, QUALITY_SCHEMAS, type QualityLimits } from "../texts/quality-rules.ts";

/** Time before yielding to the event loop. */
const SLICE_MS = 10;
const REASON = "^[a-z][a-z0-9_]{0,49}$";

/** Why an item is dropped; null: it is kept. */
interface Verdict {
  reason: string | null;
  /** The rule and the value, or the error. */
  detail?: string;
  quality: TextQuality | null;
}

/** Forwards the items whose texts are good enough. */
export const filterStep: StepKind<FilterParams> = {
  kind: "filter",
  about: "Passes on the items whose text meets rules of length, language, repetition and your own expressions.",
  params: {
    type: "object",
    properties: {
      text: { ...PATH_SCHEMA, description: "Path of the text in the items. Default: text." },
      presets: {
        type: ["array", "null"],
        items: { enum: Object.keys(PRESETS) },
        uniqueItems: true,
        description: "Published sets of rules; a rule that is set replaces theirs, and null turns it off.",
      },
      languages: {
        type: ["array", "null"],
        items: { type: "string", pattern: "^[a-z]{2,3}(-[A-Za-z0-9-]{1,30})?$" },
        minItems: 1,
        maxItems: 200,
        description: "Accepted languages, such as en or pt-BR; en also accepts en-GB.",
      },
      language: {
        type: ["string", "null"],
        minLength: 1,
        maxLength: 500,
        description:
          "Path of the language in the items; items without it, and null: detected from the text. Default: language.",
      },
      ...QUALITY_SCHEMAS,
      where: {
        type: ["object", "null"],
        properties: CONDITION_SCHEMAS as Record<string, JsonValue>,
        additionalProperties: false,
        description: "Conditions that items must meet, as in export.",
      },
      expressions: {
        type: ["object", "null"],
        propertyNames: { pattern: REASON },
        additionalProperties: { type: "string", minLength: 1, maxLength: 2000 },
        maxProperties: 50,
        description:
          'Expressions without ${{ }} that must be true, by the reason to drop the other items: {"old": "item.year >= 2020"}. item.text_quality has the measures.',
      },
    },
    additionalProperties: false,
  },
  check(params) {
    const { where, expressions } = params;
    return [
      ...faultsOfLimits(params),
      ...faultsOfConditions(() => compileConditions((where ?? {}) as Conditions, "where")),
      ...Object.entries(expressions ?? {}).flatMap(([reason, text]) => faultsOfExpression(reason, text as string)),
    ];
  },
  async run(context, params) {
    const judge = judgeOf(params);
    const counts = { kept: 0, removed: 0, reasons: {} as Record<string, number> };
    // Written to disk with the verdicts: there may be more than fits into memory.
    const judged = await writeItems(context.files, "judged.jsonl", judgedItems(context, judge, counts));
    const { file } = await writeItems(
      context.files,
      "removed.jsonl",
      removedItems(readItems(context.files, judged.items)),
    );
    return {
      kind: "done",
      output: counts,
      items: keptItems(readItems(context.files, judged.items)),
      files: file === null ? [] : [file],
    };
  },
};

/** The item beside its verdict: an item may have any key of its own. */
async function* judgedItems(
  context: StepContext,
  judge: (item: Item) => Verdict,
  counts: { kept: number; removed: number; reasons: Record<string, number> },
): AsyncGenerator<Item> {
  let since = context.clock.monotonic();
  for await (const item of untilAborted(context.inputs(), context.signal)) {
    if (context.clock.monotonic() - since >= SLICE_MS) {
      await setImmediate();
      since = context.clock.monotonic();
    }
    const { reason, detail, quality } = judge(item);
    if (reason === null) counts.kept += 1;
    else {
      counts.removed += 1;
      counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1;
    }
    const measured = quality === null ? item : { ...item, text_quality: { ...quality } };
    yield { item: measured as Record<string, JsonValue>, reason, ...(detail === undefined ? {} : { detail }) };
    context.progress(counts.kept + counts.removed, null);
  }
}

async function* keptItems(judged: AsyncIterable<Item>): AsyncGenerator<Item> {
  for await (const { item, reason } of judged) if (reason === null) yield item as Item;
}

async function* removedItems(judged: AsyncIterable<Item>): AsyncGenerator<Item> {
  for await (const { item, reason = null, detail = null } of judged)
    if (reason !== null) yield { ...(item as Item), reason, ...(detail === null ? {} : { detail }) };
}

function judgeOf(params: FilterParams): (item: Item) => Verdict {
  const { text: path = "text", languages, language = "language" } = params;
  const [spaced, spaceless] = [false, true].map((is) => limitsOf(params.presets ?? [], params, is)) as [
    QualityLimits,
    QualityLimits,
  ];
  const longest = spaced.max_characters ?? Infinity;
  const meets = compileConditions(params.where ?? {}, "where");
  const expressions = Object.entries(params.expressions ?? {}).map(
    ([reason, text]) => [reason, parseExpression(text)] as const,
  );
  const wanted = languages?.map((tag) => tag.toLowerCase()) ?? null;
  return (item) => {
    if (!meets(item)) return { reason: "condition_not_met", quality: null };
    const text = textAt(item, path);
    if (text === null) return { reason: "no_text", quality: null };
    // Before it is measured: that takes much longer.
    const characters = text.length > longest ? charactersOf(text) : 0;
    if (characters > longest)
      return {
        reason: "too_many_characters",
        detail: `max_characters is ${longest}, the text has ${characters}`,
        quality: null,
      };
    const quality = measureText(text);
    const limits = isSpaceless(quality) ? spaceless : spaced;
    const broken = brokenRule(quality, limits);
    if (broken !== null)
      return {
        reason: broken.reason,
        detail: `${broken.rule} is ${limits[broken.rule]}, the text has ${broken.value}`,
        quality,
      };
    const why = wanted === null ? null : whyNotLanguage(item, text, language, wanted);
    if (why !== null) return { ...why, quality };
    for (const [reason, node] of expressions) {
      const answer = answerOf(node, item, quality);
      if (answer !== true)
        return {
          ...(answer === false ? { reason } : { reason: "expression_error", detail: `${reason}: ${answer}` }),
          quality,
        };
    }
    return { reason: null, quality };
  };
}

/** What the page says of its language comes first: it knows more languages than the detection. */
function whyNotLanguage(
  item: Item,
  text: string,
  path: string | null,
  wanted: readonly string[],
): { reason: string; detail?: string } | null {
  const tag = ((path === null ? null : textAt(item, path)) ?? detectLanguage(measuredPart(text)))?.toLowerCase().replaceAll("_", "-");
  if (tag === undefined) return { reason: "language_unknown" };
  if (wanted.some((one) => tag === one || tag.startsWith(`${one}-`))) return null;
  return { reason: "language_not_wanted", detail: tag };
}

/** Its value, or why it has none. */
function answerOf(node: Node, item: Item, quality: TextQuality): boolean | string {
  const scope = { params: {}, steps: {}, item: { ...item, text_quality: { ...quality } } as JsonValue };
  try {
    return truth(evaluate(node, scope, new Work()), node.at);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

function faultsOfExpression(reason: string, text: string): FieldError[] {
  const path = `params.expressions.${reason}`;
  try {
    const node = parseExpression(text);
    const names = { step: "", steps: new Set<string>(), dependsOn: () => false, outputOf: () => null, params: [] };
    const [wrong] = wrongNames(node, { ...names, hasItem: true, takesItems: false });
    return wrong === undefined ? [] : [{ path, message: wrong.message }];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [{ path, message: error.message }];
  }
}
