/** The built-in step kinds, one file each, and those of the user's module. */
import { OrbError } from "../base/errors.ts";
import type { ImageInspector } from "../images/inspector.ts";
import type { KnownKind, KnownKinds, StepKind, StepKinds } from "./step-kind.ts";
import { archiveStep } from "./steps/archive.ts";
import { restoreStep } from "./steps/restore.ts";
import { cleanupStep } from "./steps/cleanup.ts";
import { compareStep } from "./steps/compare.ts";
import { crawlStep } from "./steps/crawl.ts";
import { deduplicateStep } from "./steps/deduplicate.ts";
import { downloadStep } from "./steps/download.ts";
import { exportStep } from "./steps/export.ts";
import { filterStep } from "./steps/filter.ts";
import { labelStep } from "./steps/label.ts";
import { scrapeStep } from "./steps/scrape.ts";
import { validateStep } from "./steps/validate.ts";
import { waitStep } from "./steps/wait.ts";
import { webhookStep } from "./steps/webhook.ts";

export interface StepKindSettings {
  /** Signs webhook calls; null: unsigned. */
  webhookSecret: string | null;
  images: ImageInspector;
}

/**
 * A user's kind cannot replace a built-in one. Processes that execute no step only need the descriptions of the user's
 * kinds.
 */
export function createStepKinds(settings: StepKindSettings, users: readonly StepKind[]): StepKinds;
export function createStepKinds(settings: StepKindSettings, users: readonly KnownKind[]): KnownKinds;
export function createStepKinds(settings: StepKindSettings, users: readonly KnownKind[]): KnownKinds {
  const kinds = new Map<string, KnownKind>(builtIn(settings).map((kind) => [kind.kind, kind]));
  for (const kind of users) {
    if (kinds.has(kind.kind))
      throw new OrbError("handlers_invalid", `APP_HANDLERS: the step kind ${kind.kind} is built in`, {
        hint: "Rename yours.",
      });
    kinds.set(kind.kind, kind);
  }
  const sorted = [...kinds.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  return { find: (kind) => kinds.get(kind), all: () => sorted };
}

function builtIn(settings: StepKindSettings): StepKind[] {
  return [
    archiveStep,
    restoreStep,
    cleanupStep,
    compareStep,
    crawlStep,
    deduplicateStep(settings.images),
    downloadStep,
    exportStep,
    filterStep,
    labelStep,
    scrapeStep,
    validateStep(settings.images),
    waitStep,
    webhookStep(settings.webhookSecret),
  ] as StepKind[];
}
