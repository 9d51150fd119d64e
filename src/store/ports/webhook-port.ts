/** Store methods and records for webhooks of runs, and for pages that later requests may reuse (maxAge). */
import type { WebhookEvent } from "../../domain/run/webhooks.ts";

/** A new run's webhook: its events, and the sealed receiver. */
export interface NewWebhook {
  events: readonly WebhookEvent[];
  sealed: Uint8Array;
}

export interface WebhookCall {
  /** The same in every attempt. */
  id: string;
  event: WebhookEvent;
  /** For a page event. */
  taskId: string | null;
  createdAt: number;
}

/** Pending calls of one run, in order. */
export interface DueWebhook {
  runId: string;
  sealed: Uint8Array;
  /** Failed attempts since the last successful delivery. */
  tries: number;
  calls: readonly WebhookCall[];
  /** Leased until then. */
  until: number;
}

export interface WebhookStore {
  /**
   * Leases the pending calls of the longest-waiting run until `until`: up to `most` page events, in order; after a
   * failure a single call.
   */
  takeDueWebhook(options: { most: number; until: number }, now: number): Promise<DueWebhook | null>;
  /**
   * Records the attempt: `delivered` calls are removed. A failure without a next attempt gives up all the rest. If the
   * lease was lost meanwhile, only `delivered` counts.
   */
  webhookTried(
    due: Pick<DueWebhook, "runId" | "until">,
    outcome: { delivered: readonly string[]; failed?: { error: string; nextTryAt: number | null } },
    now: number,
  ): Promise<void>;
  /** The newest fetched page of this URL by a run with this mark, unless it is older than `notBefore`. */
  reusablePage(mark: string, url: string, notBefore: number): Promise<ReusablePage | null>;
}

export interface ReusablePage {
  runId: string;
  taskId: string;
  fetchedAt: number;
}
