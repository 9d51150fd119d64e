/** Events that the webhook of a run receives. */
export const WEBHOOK_EVENTS = ["started", "page", "completed", "failed", "cancelled"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Where calls go and what goes with them, as it is sealed. */
export interface WebhookTarget {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Comes back with every call. */
  metadata: Readonly<Record<string, unknown>>;
  /** The base URL of this server as the client used it: URLs of files start with it. */
  base: string;
  /** The format of the messages. */
  format: "firecrawl";
}

/** Webhook targets are sealed for this purpose. */
export const SEALED_FOR_WEBHOOK = "webhook";
