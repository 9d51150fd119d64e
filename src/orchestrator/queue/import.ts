import type { FieldError } from "../../base/errors.ts";
import { parseQueueLine, QUEUE_ITEM_LIMITS, type QueueItem } from "../../domain/lane/queue-item.ts";
import { type EnqueueReport, enqueueItems, type QueueDeps } from "./enqueue.ts";
import { readLines } from "./lines.ts";

export interface BadLine {
  line: number;
  errors: FieldError[];
}

export interface ImportReport extends EnqueueReport {
  /** Non-blank lines. */
  lines: number;
  bad: number;
}

interface ImportListener {
  bad: (line: BadLine) => void;
  progress?: (report: ImportReport) => void;
}

const BATCH = 500;

const NOT_ALLOWED = "the target is not on the public internet; APP_ALLOW_PRIVATE_NETWORKS can allow its network";

/**
 * Reads one item per line. A bad line is reported with its number and skipped; all others are enqueued. Safe to repeat
 * after an interruption: existing items are not added twice.
 */
export function importItems(
  deps: QueueDeps,
  stream: AsyncIterable<Uint8Array>,
  listener: ImportListener,
): Promise<ImportReport> {
  return importTo((items) => enqueueItems(deps, items), stream, listener);
}

/** The same for a remote queue: `add` submits a batch. */
export async function importTo(
  add: (items: readonly QueueItem[]) => Promise<EnqueueReport>,
  stream: AsyncIterable<Uint8Array>,
  listener: ImportListener,
): Promise<ImportReport> {
  const report: ImportReport = { lines: 0, added: 0, existing: 0, bad: 0 };
  let batch: { item: QueueItem; line: number }[] = [];
  const bad = (line: number, errors: FieldError[]) => {
    report.bad += 1;
    listener.bad({ line, errors });
  };
  const put = async (lines: typeof batch): Promise<void> => {
    try {
      const { added, existing } = await add(lines.map(({ item }) => item));
      report.added += added;
      report.existing += existing;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "forbidden_target") throw error;
      // One forbidden URL rejects its whole batch: the others are added without it.
      const [first, ...others] = lines;
      if (first !== undefined && others.length === 0) return bad(first.line, [{ path: "url", message: NOT_ALLOWED }]);
      const half = Math.ceil(lines.length / 2);
      await put(lines.slice(0, half));
      await put(lines.slice(half));
    }
  };
  const flush = async () => {
    await put(batch);
    batch = [];
    listener.progress?.(report);
  };
  for await (const line of readLines(stream, QUEUE_ITEM_LIMITS.lineLength)) {
    if (line.text.trim() === "" && !line.cut) continue;
    report.lines += 1;
    const tooLong = { path: "", message: `the line is longer than ${QUEUE_ITEM_LIMITS.lineLength} characters` };
    const parsed = line.cut ? { errors: [tooLong] } : parseQueueLine(line.text);
    if (parsed.errors !== undefined) {
      bad(line.number, parsed.errors);
      continue;
    }
    batch.push({ item: parsed.ok, line: line.number });
    if (batch.length >= BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  return report;
}
