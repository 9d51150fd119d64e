/** What every kind of step is. A new one is a file in steps/ and a line in registry.ts. */
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
  /** What definitions call it: their `task_type`. */
  readonly kind: string;
  /** One line for lists and docs. */
  readonly about: string;
  /**
   * A JSON Schema (2020-12) of its params; unknown names are refused by `additionalProperties: false`. Texts that it says are
   * `writeOnly` are stored sealed, and shown to nobody.
   */
  readonly params: JsonValue;
  /** A JSON Schema of its output: expressions that name something else are refused. Absent: anything may be named. */
  readonly output?: JsonValue;
  /**
   * Checks of params that a schema cannot express, with paths such as `params.rules[0].url`. Called when the workflow
   * is created, as far as the params are known by then, and again before each attempt. `earlier`: the steps before it.
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

/** The description of a kind where nothing is executed: definitions are validated against it. */
export type KnownKind = Pick<StepKind, "kind" | "about" | "params" | "output" | "check" | "targets">;

export interface KnownKinds {
  find(kind: string): KnownKind | undefined;
  /** By name. */
  all(): readonly KnownKind[];
}

/** Those that are built in, and those of a user's module, which may not replace them. */
export interface StepKinds extends KnownKinds {
  find(kind: string): StepKind | undefined;
}

export type StepEnd =
  | {
      kind: "done";
      /** Read when the last of the items has been written, so that a step may count them as they go by. */
      output: Readonly<Record<string, JsonValue>>;
      /** Inputs of the next steps, one object each; written to a file as they come. Absent: none. */
      items?: AsyncIterable<Item> | Iterable<Item>;
      /** Further files of the step, for people to fetch: each gets an artifact id. */
      files?: readonly TaskArtifact[];
    }
  /** Not needed; steps after it go on, with the items that came to this one. */
  | { kind: "skip"; why: string }
  /**
   * Goes to sleep without a lease or a slot, and is run again with `memory` when the time has come or the child run has
   * ended. The child is created in the transaction that lets the step sleep, so there is exactly one.
   */
  | { kind: "wait"; memory: JsonValue; until?: number; child?: ChildRun };

/** A run that a step starts and waits for. */
export type ChildRun =
  | { kind: "page"; url: string; options: Readonly<Record<string, JsonValue>> }
  | { kind: "crawl"; options: Readonly<Record<string, JsonValue>> }
  | { kind: "download"; urls: readonly { url: string; data: JsonValue }[]; proxy?: string | null };

export interface StepContext {
  /** Aborted when the step's time is over or its result is not wanted any more. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly run: { readonly id: string; readonly name: string; readonly jobId: string | null };
  readonly step: { readonly name: string; readonly index: number; readonly attempt: number };
  /** Of one entry of a `for_each`. */
  readonly item: JsonValue | undefined;
  /** State from before it went to sleep; null at the beginning of an attempt. */
  readonly memory: JsonValue;
  /** The child run that has ended, after a sleep that waited for one. */
  readonly child: ChildEnd | null;
  /** All child runs of this try that have ended, oldest first. */
  readonly children: readonly ChildEnd[];
  /** Outputs of earlier steps, by name. */
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** All items of the steps it depends on, in the order of its dependencies. Readable any number of times. */
  inputs(): AsyncIterable<Item>;
  /** The items of one earlier step. */
  itemsOf(step: string): AsyncIterable<Item>;
  /**
   * The items of the step of this name in the last completed run of the same job, or else of one that does the same; null:
   * there was none. Readable any number of times.
   */
  itemsOfLastRun(step: string): Promise<AsyncIterable<Item> | null>;
  /** What files this run has in the store, step by step. */
  readonly past: RunHistory;
  readonly files: StepFiles;
  readonly http: StepHttp;
  /** Shown to people, and part of the overall progress; written about once a second at most. */
  progress(done: number, total: number | null, message?: string): void;
}

/**
 * One thing that goes from step to step: a page, a file, a record. Keys that a step does not know it passes on. Anything may
 * stand under any of them, for items come from pages, too: steps read them by way of item-keys.
 */
export interface Item {
  /** Where it came from. */
  url?: string;
  /** The stored file: SHA-256 of its bytes in hex. */
  hash?: string;
  bytes?: number;
  content_type?: string | null;
  artifact_id?: string;
  /** A name for people, such as the last part of the address. */
  name?: string;
  label?: string;
  /** What `validate` found out about a picture; see images/facts. */
  image?: Readonly<Record<string, JsonValue>>;
  [more: string]: JsonValue | undefined;
}

export interface ChildEnd {
  runId: string;
  status: RunState;
  message: string | null;
  /** Why a page could not be had; null: it could, or the run is of another kind. */
  failure: { reason: FailureReason; message: string; httpStatus: number | null } | null;
  counts: Readonly<Record<string, number>>;
  /** Records of the run, oldest first. */
  results(): AsyncIterable<{ url: string; data: Readonly<Record<string, JsonValue>> }>;
  /** Pages that could not be had, and why, oldest first. */
  failures(): AsyncIterable<{ url: string; error: string; httpStatus: number | null }>;
  /** One entry for each task of a download: its file, or why there is none. `data` was passed with the URL. */
  downloads(): AsyncIterable<{
    url: string;
    data: JsonValue;
    file: (TaskArtifact & { id: string }) | null;
    error: string | null;
  }>;
}

/** Stored files, by content. */
export interface StepFiles {
  has(hash: string): Promise<boolean>;
  /** The size of its bytes; null: there is none. */
  sizeOf(hash: string): Promise<number | null>;
  /**
   * A local path of the bytes; a file in the archive tier or in a bucket is unpacked or fetched first. Another step may
   * move the file before it is opened: if it is missing, ask again.
   */
  pathOf(hash: string): Promise<string>;
  open(hash: string): AsyncIterable<Uint8Array>;
  /** Stores the bytes and returns their hash and size. */
  save(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    about: { name: string; contentType: string },
  ): Promise<TaskArtifact>;
  /** A file stored for this attempt in another way counts as saved by it: it is removed unless the step returns it. */
  adopt(file: TaskArtifact): void;
  /** Moves it to the archive tier, compressed where that pays; null: there is none. Idempotent. */
  coolDown(hash: string): Promise<{ before: number; after: number } | null>;
  /** Restores it to the hot tier, unpacked, and returns its size; null: there is none. */
  warmUp(hash: string): Promise<number | null>;
  /** Time since it was stored or found again, in milliseconds; null: it is not in the hot tier. */
  ageOf(hash: string): Promise<number | null>;
}

/** The files that earlier steps of the run have left; lists of items are not among them. */
export interface RunHistory {
  /**
   * Files that the step of this name downloaded in its child runs (`downloads`), or stored itself (`made`), oldest
   * first. It may include files that the run is dropping.
   */
  filesOf(step: string, which: "downloads" | "made"): AsyncIterable<{ id: string; hash: string }>;
  /** Their rows go; the files themselves go later, unless another row names the same content. */
  drop(ids: readonly string[]): Promise<DroppedFiles>;
}

/** The guarded way out. Redirects are not followed: each is an answer. */
export interface StepHttp {
  fetch(request: {
    url: string;
    method?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string | Uint8Array;
  }): Promise<{ status: number; url: string; headers: Record<string, string>; body: Uint8Array }>;
}
