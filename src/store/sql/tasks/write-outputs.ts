/** Writes task outputs: files and records. */
import { encodeId } from "../../../domain/run/ids.ts";
import type { TaskArtifact } from "../../../domain/run/outcome.ts";
import type { ClaimedTask, SettledTask } from "../../ports/port.ts";
import type { ForEach, Value } from "../kernel/connection.ts";
import { type Context, rows } from "../kernel/context.ts";
import { firstUrlsOf } from "../crawls/frontier.ts";
import { replaceArtifacts } from "../runs/retention.ts";
import type { TaskEnd } from "./write-task.ts";

/** Redirect exchanges stay: the first site is not requested again. */
const REPLACED = "task = ? AND role IS DISTINCT FROM 'redirect'";

const INSERT_FILE: ForEach = {
  text: `INSERT INTO artifacts (task, ordinal, hash, size, content_type, url, created_at, role, run)
    SELECT new.task, new.ordinal, new.hash, new.size, new.content_type, new.url, new.created_at, new.role, new.run
    FROM new ORDER BY new.row_index`,
  columns: {
    task: "bigint",
    ordinal: "bigint",
    hash: "bytea",
    size: "bigint",
    content_type: "text",
    url: "text",
    created_at: "bigint",
    role: "text",
    run: "bigint",
  },
};

export const INSERT_RESULT: ForEach = {
  text: `INSERT INTO results (task, ordinal, data, created_at, run)
    SELECT new.task, new.ordinal, new.data, new.created_at, new.run FROM new ORDER BY new.row_index`,
  columns: { task: "bigint", ordinal: "bigint", data: "text", created_at: "bigint", run: "bigint" },
};

type Completed = Extract<SettledTask["verdict"], { kind: "completed" }>;

type RecordPath = NonNullable<TaskArtifact["into"]>;

interface FilesOfTask {
  task: ClaimedTask;
  run: number;
  files: readonly TaskArtifact[];
}

interface RecordsOfTask {
  task: ClaimedTask;
  run: number;
  results: readonly unknown[];
  /** The content key, if another page had this content first. */
  repeats: Uint8Array | null;
}

/** Collects the outputs of several tasks, at most one entry per task, and writes them together. */
export class Outputs {
  readonly #context: Context;
  readonly #now: number;
  readonly #files: FilesOfTask[] = [];
  readonly #records: RecordsOfTask[] = [];
  /** The ids of files that records refer to, by task. */
  readonly #fileIds = new Map<number, { path: RecordPath; id: string }[]>();

  constructor(context: Context, now: number) {
    this.#context = context;
    this.#now = now;
  }

  /** Files and records of a task. Settling a task again replaces all of them. */
  add({ settled: { task }, repeats }: TaskEnd, run: number, { artifacts, results }: Completed): void {
    if (task.attempts.length > 0) this.#context.connection.sql("DELETE FROM results WHERE task = ?").run(task.row);
    this.replaceFiles(task, run, artifacts);
    if (results.length > 0) this.#records.push({ task, run, results, repeats: repeats ?? null });
  }

  replaceFiles(task: ClaimedTask, run: number, files: readonly TaskArtifact[]): void {
    // A task without a history has no files yet.
    if (task.attempts.length > 0) replaceArtifacts(this.#context, REPLACED, task.row);
    if (files.length > 0) this.#files.push({ task, run, files });
  }

  write(): void {
    if (this.#files.length > 0) this.#writeFiles();
    if (this.#records.length > 0) this.#writeRecords();
  }

  #writeRecords(): void {
    const records: Value[][] = [];
    const repeated: (RecordsOfTask & { repeats: Uint8Array })[] = [];
    for (const { repeats, ...output } of this.#records)
      if (repeats === null) this.#addRecords(records, output, null);
      else repeated.push({ ...output, repeats });
    this.#insert(INSERT_RESULT, records);
    if (repeated.length === 0) return;
    // Only now: the first page may be among those just written.
    const firsts = firstUrlsOf(
      this.#context,
      repeated.map(({ repeats }) => repeats),
    );
    const duplicates: Value[][] = [];
    for (const [index, output] of repeated.entries()) this.#addRecords(duplicates, output, firsts[index] ?? null);
    this.#insert(INSERT_RESULT, duplicates);
  }

  #insert(statement: ForEach, list: readonly Value[][]): void {
    const { connection } = this.#context;
    connection.dialect.each(connection, statement, list);
  }

  #addRecords(records: Value[][], { task, run, results }: Omit<RecordsOfTask, "repeats">, first: string | null): void {
    for (const [ordinal, plain] of results.entries()) {
      const result = this.#withIds(task, ordinal, plain);
      const data = first === null ? result : { ...(result as object), duplicate_of: first };
      records.push([task.row, ordinal, JSON.stringify(data ?? null), this.#now, run]);
    }
  }

  #writeFiles(): void {
    const { connection } = this.#context;
    const before = this.#files.filter(({ task }) => task.attempts.length > 0);
    const text = "SELECT coalesce(max(ordinal) + 1, 0) AS next FROM artifacts WHERE task = ?";
    const next = connection.dialect.firsts(
      connection,
      before.map(({ task }) => ({ text, values: [task.row] })),
    );
    const from = new Map(before.map(({ task }, index) => [task, Number(next[index]?.["next"])]));
    const list: Value[][] = [];
    for (const { task, run, files } of this.#files)
      for (const [index, file] of files.entries())
        list.push([
          task.row,
          (from.get(task) ?? 0) + index,
          Buffer.from(file.hash, "hex"),
          file.size,
          file.contentType,
          file.url,
          this.#now,
          file.role ?? null,
          run,
        ]);
    this.#insert(INSERT_FILE, list);
    for (const { task, files } of this.#files)
      if (files.some(({ into }) => into !== undefined)) this.#collectFileIds(task, files, from.get(task) ?? 0);
  }

  /** Files have ids only after the insert. */
  #collectFileIds(task: ClaimedTask, files: readonly TaskArtifact[], from: number): void {
    const { connection, instance } = this.#context;
    const written = rows<{ n: number; ordinal: number }>(
      connection.sql("SELECT n, ordinal FROM artifacts WHERE task = ? AND ordinal >= ?").all(task.row, from),
    );
    const idOf = new Map(written.map(({ n, ordinal }) => [Number(ordinal), encodeId(instance, "artifact", Number(n))]));
    const ids = files.flatMap(({ into }, index) => {
      const id = idOf.get(from + index);
      return into === undefined || id === undefined ? [] : [{ path: into, id }];
    });
    this.#fileIds.set(task.row, ids);
  }

  #withIds(task: ClaimedTask, ordinal: number, record: unknown): unknown {
    const paths = (this.#fileIds.get(task.row) ?? []).filter(({ path: [which] }) => which === ordinal);
    return paths.reduce((data, { path: [, ...path], id }) => withAt(data, path, id), record);
  }
}

/** A copy of `data` with the value set at the path. */
function withAt(data: unknown, [key, ...path]: readonly (string | number)[], value: string): unknown {
  if (key === undefined) return value;
  if (Array.isArray(data)) return data.map((item, index) => (index === key ? withAt(item, path, value) : item));
  const object = (data ?? {}) as Record<string, unknown>;
  return { ...object, [key]: withAt(object[key], path, value) };
}
