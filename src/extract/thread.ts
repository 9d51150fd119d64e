/**
 * Runs in a worker thread: reads one page or sitemap after another, or learns from some. One that holds it up, or fills its memory, takes
 * this thread along and nothing else.
 */
import { parentPort } from "node:worker_threads";
import { type FieldError, isOrbError, messageOf } from "../base/errors.ts";
import { type FailureReason, FetchFailure } from "../domain/run/failure.ts";
import type { PageInput } from "./page.ts";
import { compilePlan, type Plan, type PlanSpec } from "./plan.ts";
import { type KeptLinks, LinkFinders } from "./follow.ts";
import { learnRules, type LessonInput } from "./learn/lesson.ts";
import { type ReadRequest, readPage } from "./reading.ts";
import { readSitemapFile, type SitemapFile } from "./sitemap-file.ts";

export type ReadOrder = PageOrder | { kind: "sitemap"; input: SitemapFile } | { kind: "learn"; input: LessonInput };

interface PageOrder {
  kind: "page";
  input: PageInput;
  /** The plan's spec as JSON: short, and at the same time the name under which the compiled plan is kept. */
  spec: string;
  request: ReadRequest;
}

/** `cpuMs`: what the thread has used of the processor in all its life. */
export type FromReader = ReaderResult & { cpuMs: number };

type ReaderResult =
  /** Everything is loaded; orders that came before it are read now. */
  | { kind: "ready" }
  /** A PageReading, SitemapReading or Lesson as JSON: for many small objects this is a third cheaper on the main thread than a copy. */
  | { kind: "read"; reading: string }
  | { kind: "invalid"; message: string; fields: readonly FieldError[] }
  /** `reason`: what is wrong with the file itself; null: it could not be read. */
  | { kind: "failed"; reason: FailureReason | null; message: string };

/** One run uses one plan, so this many runs share a thread without compiling anything twice. */
const PLANS_KEPT = 64;
const plans = new Map<string, Plan>();

function planFor(spec: string): Plan {
  const plan = plans.get(spec) ?? compilePlan(JSON.parse(spec) as PlanSpec);
  // Taken out and put back: the map keeps the order of use, and the first one is the one to forget.
  plans.delete(spec);
  plans.set(spec, plan);
  const [oldest] = plans.keys();
  if (plans.size > PLANS_KEPT && oldest !== undefined) plans.delete(oldest);
  return plan;
}

const finders = new LinkFinders();

function reading(order: ReadOrder): unknown {
  if (order.kind === "sitemap") return readSitemapFile(order.input);
  if (order.kind === "learn") return learnRules(order.input);
  return readPage(order.input, planFor(order.spec), order.request, finders);
}

function answerTo(order: ReadOrder): ReaderResult {
  try {
    return { kind: "read", reading: JSON.stringify(reading(order)) };
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
