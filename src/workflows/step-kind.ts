/** The interface of step kinds. A new one is a file in steps/ and a line in registry.ts. */
import type { Clock } from "../base/clock.ts";
import type { FieldError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { FailureReason } from "../domain/run/failure.ts";
import type { TaskArtifact } from "../domain/run/outcome.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { RunState } from "../domain/run/states.ts";
import type { DroppedFiles } from "../store/ports/retention-port.ts";

export interface StepKind<Params = Record<string, JsonValue>> {
  /** Its `task_type` in definitions. */
  readonly kind: string;
  /** One line for lists and docs. */
  readonly about: string;
  /**
   * A JSON Schema (2020-12) of its params; `additionalProperties: false` rejects unknown names. Texts marked
   * `writeOnly` are stored sealed and never returned.
   */
  readonly params: JsonValue;
  /** A JSON Schema of its output: expressions that refer to other keys are rejected. Absent: any key is allowed. */
  readonly output?: JsonValue;
  /**
   * Checks of params that a schema cannot express, with paths such as `params.rules[0].url`. Called when the workflow
   * is created, with the params known by then, and again before each attempt. `earlier`: the steps before it.
   */
  check?(params: Readonly<Record<string, JsonValue>>, earlier: readonly string[]): FieldError[];
  /** The URLs that it requests itself. */
  targets?(params: Readonly<Record<string, JsonValue>>): readonly { path: string; url: string }[];
  /**
   * One attempt. It may be aborted at any moment and started again, so it must be idempotent. It may throw: a
   * FetchFailure keeps its classification, and `permanent` ones are not retried.
   */
  run(context: StepContext, params: Params): Promise<StepEnd>;
}

/** Description of a kind, without its implementation: definitions are validated against it. */
export type KnownKind = Pick<StepKind, "kind" | "about" | "params" | "output" | "check" | "targets">;

export interface KnownKinds {
  find(kind: string): KnownKind | undefined;
  /** Sorted by name. */
  all(): readonly KnownKind[];
}

/** Built-in kinds, and those of a user's module, which cannot replace them. */
export interface StepKinds extends KnownKinds {
  find(kind: string): StepKind | undefined;
}

export type StepEnd =
  | {
      kind: "done";
      /** Read after the last item was written, so that a step may count its items. */
      output: Readonly<Record<string, JsonValue>>;
      /** Inputs of the next steps, one object each; written to a file as they come. Absent: none. */
      items?: AsyncIterable<Item> | Iterable<Item>;
      /** Further files of the step, for users to download: each gets an artifact id. */
      files?: readonly TaskArtifact[];
    }
  /** Skipped; later steps continue with the inputs of this one. */
  | { kind: "skip"; why: string }
  /**
   * Sleeps without a lease or a slot; runs again with `memory` at `until` or when the child run has ended. The child is
   * created in the transaction that puts the step to sleep, so there is exactly one.
   */
  | { kind: "wait"; memory: JsonValue; until?: number; child?: ChildRun };

/** A run that a step starts and waits for. */
export type ChildRun =
  | { kind: "page"; url: string; options: Readonly<Record<string, JsonValue>> }
  | { kind: "crawl"; options: Readonly<Record<string, JsonValue>> }
  | { kind: "download"; urls: readonly { url: string; data: JsonValue }[]; proxy?: string | null };

export interface StepContext {
  /** Aborted when the step's timeout expires or its result is no longer needed. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly run: { readonly id: string; readonly name: string; readonly jobId: string | null };
  readonly step: { readonly name: string; readonly index: number; readonly attempt: number };
  /** The list entry, in a step with `for_each`. */
  readonly item: JsonValue | undefined;
  /** State from before it slept; null at the start of an attempt. */
  readonly memory: JsonValue;
  /** The ended child run, after a sleep that waited for one. */
  readonly child: ChildEnd | null;
  /** All ended child runs of this attempt, oldest first. */
  readonly children: readonly ChildEnd[];
  /** Outputs of earlier steps, by name. */
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** All items of the steps it depends on, in the order of its dependencies. Can be read repeatedly. */
  inputs(): AsyncIterable<Item>;
  /** The items of one earlier step. */
  itemsOf(step: string): AsyncIterable<Item>;
  /**
   * The items of the step of this name in the last completed run of the same job, or else of an equivalent run; null:
   * none. Can be read repeatedly.
   */
  itemsOfLastRun(step: string): Promise<AsyncIterable<Item> | null>;
  /** The last robots.txt that was read of an origin, if any; empty: the site has none, refused it, or it is empty. */
  robotsOf(origin: string): Promise<{ body: Uint8Array; fetchedAt: number } | null>;
  /** Stored files of this run, by step. */
  readonly past: RunHistory;
  readonly files: StepFiles;
  readonly http: StepHttp;
  /** Shown to users, and part of the overall progress; written at most about once a second. */
  progress(done: number, total: number | null, message?: string): void;
}

/**
 * What passes from step to step: a page, a file, a record. Steps pass unknown keys on. Items also come from pages, so
 * any key may hold anything: steps read them through item-keys.
 */
export interface Item {
  /** Its source URL. */
  url?: string;
  /** SHA-256 of the stored file in hex. */
  hash?: string;
  bytes?: number;
  content_type?: string | null;
  artifact_id?: string;
  /** A readable name, such as the last part of the URL. */
  name?: string;
  label?: string;
  /** What `validate` found out about an image; see images/facts. */
  image?: Readonly<Record<string, JsonValue>>;
  [more: string]: JsonValue | undefined;
}

export interface ChildEnd {
  runId: string;
  status: RunState;
  message: string | null;
  /** Why a page could not be fetched; null: it could, or the run is of another kind. */
  failure: { reason: FailureReason; message: string; httpStatus: number | null } | null;
  counts: Readonly<Record<string, number>>;
  /** Records of the run, oldest first. */
  results(): AsyncIterable<{ url: string; data: Readonly<Record<string, JsonValue>> }>;
  /** Failed pages and the reasons, oldest first. */
  failures(): AsyncIterable<{ url: string; error: string; httpStatus: number | null }>;
  /** One entry per task of a download: its file, or why there is none. `data` was passed with the URL. */
  downloads(): AsyncIterable<{
    url: string;
    data: JsonValue;
    file: (TaskArtifact & { id: string }) | null;
    error: string | null;
  }>;
}

/** Stored files, by content. */
export interface StepFiles {
  /** A folder for temporary files, on the disk of the stored ones. What is forgotten there is removed after an hour. */
  readonly temporary: string;
  has(hash: string): Promise<boolean>;
  /** Its size in bytes; null: it does not exist. */
  sizeOf(hash: string): Promise<number | null>;
  /**
   * Local path of the bytes; a file in the archive tier or a bucket is unpacked or fetched first. Another step may move
   * the file before it is opened: if it is missing, call again.
   */
  pathOf(hash: string): Promise<string>;
  open(hash: string): AsyncIterable<Uint8Array>;
  /** Stores the bytes and returns their hash and size. */
  save(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    about: { name: string; contentType: string },
  ): Promise<TaskArtifact>;
  /** Counts a file stored in another way as saved by this attempt: it is deleted unless the step returns it. */
  adopt(file: TaskArtifact): void;
  /** Moves it to the archive tier, compressed if that saves space; null: it does not exist. Idempotent. */
  coolDown(hash: string): Promise<{ before: number; after: number } | null>;
  /** Restores it to the hot tier, unpacked, and returns its size; null: it does not exist. */
  warmUp(hash: string): Promise<number | null>;
  /** Milliseconds since it was stored or referenced again; null: not in the hot tier. */
  ageOf(hash: string): Promise<number | null>;
}

/** Files of the run's earlier steps, without item lists. */
export interface RunHistory {
  /**
   * Files that the step of this name downloaded in its child runs (`downloads`) or stored itself (`made`), oldest
   * first. May include files that the run is dropping.
   */
  filesOf(step: string, which: "downloads" | "made"): AsyncIterable<{ id: string; hash: string }>;
  /** Deletes their rows; the files follow later, unless another row references the same content. */
  drop(ids: readonly string[]): Promise<DroppedFiles>;
}

/** The guarded outbound client. Does not follow redirects: each is a response. */
export interface StepHttp {
  fetch(request: {
    url: string;
    method?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string | Uint8Array;
  }): Promise<{ status: number; url: string; headers: Record<string, string>; body: Uint8Array }>;
}
