/** What the address that a run names is told of. */
export const WEBHOOK_EVENTS = ["started", "page", "completed", "failed", "cancelled"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Where calls go and what goes with them, as it is sealed. */
export interface WebhookTarget {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Comes back with every call. */
  metadata: Readonly<Record<string, unknown>>;
  /** Where whoever asked for it has found this server: addresses of files begin so. */
  base: string;
  /** In whose shape they are told. */
  format: "firecrawl";
}

/** Webhook targets are sealed for this purpose. */
export const SEALED_FOR_WEBHOOK = "webhook";
