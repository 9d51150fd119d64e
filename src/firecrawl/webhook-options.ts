/** The webhook of a crawl or a batch. */
import { WEBHOOK_EVENTS, type WebhookEvent } from "../domain/run/webhooks.ts";
import { InputReader, isObject } from "../domain/text/input-reader.ts";

export interface WebhookAsk {
  url: string;
  headers: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, unknown>>;
  events: readonly WebhookEvent[];
}

export function readWebhook(reader: InputReader): WebhookAsk | null {
  const value = reader.value("webhook");
  if (value === undefined) return null;
  if (typeof value !== "string" && !isObject(value)) {
    reader.addError("webhook", "expected a URL, or {url, headers, metadata, events}");
    return null;
  }
  const inner = new InputReader(
    typeof value === "string" ? { url: value } : value,
    reader.at("webhook"),
    reader.errors,
  );
  const url = inner.text("url");
  const parsed = URL.parse(url ?? "");
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) inner.addError("url", "expected an http or https URL");
  const events = inner.list("events");
  for (const [index, event] of (events ?? []).entries())
    if (!(WEBHOOK_EVENTS as readonly unknown[]).includes(event))
      inner.addError(`events[${index}]`, `expected one of ${WEBHOOK_EVENTS.join(", ")}`);
  const ask: WebhookAsk = {
    url: parsed?.href ?? "",
    headers: withoutType(inner.textsByName("headers") ?? {}),
    metadata: inner.object("metadata") ?? {},
    events: (events as WebhookEvent[] | undefined) ?? WEBHOOK_EVENTS,
  };
  for (const [name, value] of Object.entries(ask.headers)) {
    const why = whyNotSent(name, value);
    if (why !== null) inner.addError(`headers.${name.slice(0, 100)}`, why);
  }
  inner.rejectUnknownKeys();
  return ask;
}

/** What is sent is JSON, however somebody writes that. */
function withoutType(headers: WebhookAsk["headers"]): WebhookAsk["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "content-type"));
}

/** They say where a call goes and how long it is. */
const OURS: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);

function whyNotSent(name: string, value: string): string | null {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return "is not the name of a header";
  if (OURS.has(name.toLowerCase())) return "is set by this server: remove it";
  // What HTTP can carry: tabs, and what is visible in Latin-1.
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? null : "contains characters that are not allowed in a header";
}
