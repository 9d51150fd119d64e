/**
 * Runs in a worker thread: reads pages and sitemaps, and learns rules. An input that blocks it or exhausts its memory
 * ends only this thread.
 */
import { parentPort } from "node:worker_threads";
import { type FieldError, isOrbError, messageOf } from "../base/errors.ts";
import { type FailureReason, FetchFailure } from "../domain/run/failure.ts";
import type { PageInput } from "./page.ts";
import { compilePlan, type Plan, type PlanSpec } from "./plan.ts";
import { type KeptLinks, LinkFinders } from "./follow.ts";
import { learnRules, type LessonInput } from "./learn/lesson.ts";
import type { RepairOrder } from "./learn/repair.ts";
import { repairRules } from "./learn/repair-rules.ts";
import { type ReadRequest, readPage } from "./reading.ts";
import { readSitemapFile, type SitemapFile } from "./sitemap-file.ts";

export type ReadOrder =
  | PageOrder
  | { kind: "sitemap"; input: SitemapFile }
  | { kind: "learn"; input: LessonInput }
  | { kind: "repair"; input: RepairOrder };

interface PageOrder {
  kind: "page";
  input: PageInput;
  /** The plan's spec as JSON; also the cache key of the compiled plan. */
  spec: string;
  request: ReadRequest;
}

/** `cpuMs`: total CPU time of the thread. */
export type FromReader = ReaderResult & { cpuMs: number };

type ReaderResult =
  /** The code is loaded; queued orders are processed now. */
  | { kind: "ready" }
  /** PageReading, SitemapReading or Lesson as JSON: a third cheaper on the main thread than a structured clone. */
  | { kind: "read"; reading: string }
  | { kind: "invalid"; message: string; fields: readonly FieldError[] }
  /** `reason`: the failure of the file itself; null: an error while reading. */
  | { kind: "failed"; reason: FailureReason | null; message: string };

/** One plan per run: this many runs share a thread without recompilation. */
const MAX_PLANS = 64;
const plans = new Map<string, Plan>();

function planFor(spec: string): Plan {
  const plan = plans.get(spec) ?? compilePlan(JSON.parse(spec) as PlanSpec);
  // Re-inserted to keep the map in LRU order.
  plans.delete(spec);
  plans.set(spec, plan);
  const [oldest] = plans.keys();
  if (plans.size > MAX_PLANS && oldest !== undefined) plans.delete(oldest);
  return plan;
}

const finders = new LinkFinders();

function readingOf(order: ReadOrder): unknown {
  if (order.kind === "sitemap") return readSitemapFile(order.input);
  if (order.kind === "learn") return learnRules(order.input);
  if (order.kind === "repair") return repairRules(order.input);
  return readPage(order.input, planFor(order.spec), order.request, finders);
}

function answerTo(order: ReadOrder): ReaderResult {
  try {
    return { kind: "read", reading: JSON.stringify(readingOf(order)) };
  } catch (error) {
    if (error instanceof FetchFailure)
      return { kind: "failed", reason: error.failure.reason, message: error.failure.message };
    if (isOrbError(error, "input_invalid")) return { kind: "invalid", message: error.message, fields: error.fields };
    return { kind: "failed", reason: null, message: messageOf(error) };
  }
}

const port = parentPort;
if (port === null) throw new Error("this file runs in a worker thread only");
const reply = (result: ReaderResult) => {
  const { user, system } = process.threadCpuUsage();
  port.postMessage({ ...result, cpuMs: (user + system) / 1000 } satisfies FromReader);
};
port.on("message", ({ order, kept }: { order: ReadOrder; kept: readonly KeptLinks[] }) => {
  for (const links of kept) finders.keep(links);
  reply(answerTo(order));
});
reply({ kind: "ready" });
