/** Store methods and records for webhooks of runs, and for pages that answer a later request (maxAge). */
import type { WebhookEvent } from "../../domain/run/webhooks.ts";

/** Of a new run: which events are told, and where, sealed. */
export interface NewWebhook {
  events: readonly WebhookEvent[];
  sealed: Uint8Array;
}

export interface WebhookCall {
  /** The same in every try. */
  id: string;
  event: WebhookEvent;
  /** Of a page: which. */
  taskId: string | null;
  createdAt: number;
}

/** What one run has to tell, in order. */
export interface DueWebhook {
  runId: string;
  sealed: Uint8Array;
  /** How often it was tried in vain since something was taken. */
  tries: number;
  calls: readonly WebhookCall[];
  /** Until then nobody else gets it. */
  until: number;
}

export interface WebhookStore {
  /**
   * Takes what one run has to tell, that of the one which has waited longest: up to `most` pages at once, while all that came
   * before has been taken; of one whose receiver has refused the last, a single call. Until `until` nobody else gets it.
   */
  takeDueWebhook(options: { most: number; until: number }, now: number): Promise<DueWebhook | null>;
  /**
   * What came of it: those in `delivered` were taken. Without another try after a failure all the rest is given up. Whoever comes
   * so late that somebody else has got it changes nothing else.
   */
  webhookTried(
    due: Pick<DueWebhook, "runId" | "until">,
    outcome: { delivered: readonly string[]; failed?: { error: string; nextTryAt: number | null } },
    now: number,
  ): Promise<void>;
  /** The newest page that was got of this address by a run with this mark, unless it is older. */
  reusablePage(mark: string, url: string, notBefore: number): Promise<ReusablePage | null>;
}

export interface ReusablePage {
  runId: string;
  taskId: string;
  fetchedAt: number;
}
