/** Pages that a job keeps with their records, and how they are read again. */
import { hash } from "node:crypto";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { BodyForm } from "../domain/page/fixture.ts";
import { isEmpty } from "../domain/page/record-diff.ts";
import type { Recipe } from "../domain/run/recipe.ts";
import type { PlanSpec } from "../extract/plan.ts";
import type { PageAnswer } from "../fetch/page.ts";
import { isReadFurther } from "./extract-further.ts";
import type { PageGot } from "./get-page.ts";
import { planSpecOf, type ReadAnswer } from "./judge.ts";

type Rules = Pick<Recipe, "fields" | "items" | "schema" | "extract" | "replay" | "strategy">;

/** Sealed fixtures open for no other purpose. */
export const SEALED_FOR_FIXTURE = "page of a fixture";

/** Why the rules cannot be tested on stored pages; null: they can. */
export function whyNoFixtures(recipe: Pick<Rules, "fields" | "items" | "extract">): string | null {
  if (isReadFurther(recipe)) return "its records come from a model or an extractor, and only rules can be tested";
  return recipe.fields === null && recipe.items === null ? "it has no rules: set fields or items" : null;
}

/** Equal for recipes that give the same records for the same page. */
export function rulesFingerprint({ fields, items, schema, replay, strategy }: Rules): string {
  const replayed = strategy === "api_replay" ? ((replay ?? {}) as { items?: JsonValue }).items : undefined;
  const rules = JSON.stringify([fields, items, schema, ...(replayed === undefined ? [] : [replayed])]);
  return hash("sha256", rules, "base64url").slice(0, 22);
}

/** Extracts the records alone: no links, article or document. */
export function fixtureSpec(kind: "page" | "crawl", recipe: Recipe, answer: ReadAnswer): PlanSpec {
  if (kind === "page") return planSpecOf({ ...recipe, document: null, monitor: null }, answer);
  const { fields, items, schema } = recipe;
  return {
    fields,
    ...(items === null ? {} : { items }),
    ...(schema === null ? {} : { schema }),
    links: false,
  };
}

export function bodyFormOf({ body, replayed }: PageAnswer): BodyForm {
  if (replayed === true) return "replayed";
  return typeof body === "string" ? "text" : "bytes";
}

/** The page of a fixture, from its stored bytes. */
export function storedAnswer(bytes: Buffer, form: BodyForm, contentType: string | null): ReadAnswer {
  return {
    body: form === "bytes" ? bytes : bytes.toString("utf8"),
    contentType,
    ...(form === "replayed" ? { replayed: true } : {}),
  };
}

/** The records of a page that was read without any problem; null: it is no fixture. */
export function goodRecords({
  answer,
  judgement,
  failure,
}: PageGot): { answer: PageAnswer; records: readonly Record<string, JsonValue>[] } | null {
  if (answer === null || judgement === null || failure !== null) return null;
  const { records, errors, warnings, extraction } = judgement;
  if (records.length === 0 || errors.length + warnings.length > 0 || extraction?.truncated === true) return null;
  return { answer, records };
}

/** How many fields have a value in at least one record. */
export function countFilled(records: readonly Record<string, JsonValue>[], { fields }: Pick<Rules, "fields">): number {
  const most = fields === null ? Number.POSITIVE_INFINITY : Object.keys(fields as object).length;
  const filled = new Set<string>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) if (!isEmpty(value)) filled.add(name);
    if (filled.size >= most) break;
  }
  return filled.size;
}
