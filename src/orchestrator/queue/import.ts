import type { FieldError } from "../../base/errors.ts";
import { parseQueueLine, QUEUE_ITEM_LIMITS, type QueueItem } from "../../domain/queue-item.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { type EnqueueReport, enqueueItems } from "./enqueue.ts";
import { readLines } from "./lines.ts";

export interface BadLine {
  line: number;
  errors: FieldError[];
}

export interface ImportReport extends EnqueueReport {
  /** Lines that were not blank. */
  lines: number;
  bad: number;
}

export interface ImportListener {
  bad: (line: BadLine) => void;
  progress?: (report: ImportReport) => void;
}

const BATCH = 500;

/**
 * Reads one item per line. A bad line is reported with its number and skipped; everything else is enqueued. Stopped
 * half-way, it is simply started again: what is there already is not added twice.
 */
export function importItems(
  deps: OrchestratorDeps,
  stream: AsyncIterable<Uint8Array>,
  told: ImportListener,
): Promise<ImportReport> {
  return importTo((items) => enqueueItems(deps, items), stream, told);
}

/** The same for a queue that is somewhere else: `add` puts some of them there. */
export async function importTo(
  add: (items: readonly QueueItem[]) => Promise<EnqueueReport>,
  stream: AsyncIterable<Uint8Array>,
  told: ImportListener,
): Promise<ImportReport> {
  const report: ImportReport = { lines: 0, added: 0, existing: 0, bad: 0 };
  let batch: QueueItem[] = [];
  const flush = async () => {
    const { added, existing } = await add(batch);
    report.added += added;
    report.existing += existing;
    batch = [];
    told.progress?.(report);
  };
  for await (const line of readLines(stream, QUEUE_ITEM_LIMITS.lineLength)) {
    if (line.text.trim() === "" && !line.cut) continue;
    report.lines += 1;
    const tooLong = { path: "", message: `the line is longer than ${QUEUE_ITEM_LIMITS.lineLength} characters` };
    const parsed = line.cut ? { errors: [tooLong] } : parseQueueLine(line.text);
    if (parsed.errors !== undefined) {
      report.bad += 1;
      told.bad({ line: line.number, errors: parsed.errors });
      continue;
    }
    batch.push(parsed.ok);
    if (batch.length >= BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  return report;
}
