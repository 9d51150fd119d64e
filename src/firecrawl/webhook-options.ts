/** Who is to be told of a crawl or a batch. */
import { WEBHOOK_EVENTS, type WebhookEvent } from "../domain/webhooks.ts";
import { Given, isObject } from "./given.ts";

export interface WebhookAsk {
  url: string;
  headers: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, unknown>>;
  events: readonly WebhookEvent[];
}

export function readWebhook(given: Given): WebhookAsk | null {
  const value = given.any("webhook");
  if (value === undefined) return null;
  if (typeof value !== "string" && !isObject(value)) {
    given.wrong("webhook", "expected an address, or {url, headers, metadata, events}");
    return null;
  }
  const inner = new Given(typeof value === "string" ? { url: value } : value, given.at("webhook"), given.problems);
  const url = inner.text("url");
  const parsed = URL.parse(url ?? "");
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) inner.wrong("url", "expected an http or https URL");
  const events = inner.list("events");
  for (const [index, event] of (events ?? []).entries())
    if (!(WEBHOOK_EVENTS as readonly unknown[]).includes(event))
      inner.wrong(`events[${index}]`, `expected one of ${WEBHOOK_EVENTS.join(", ")}`);
  const ask: WebhookAsk = {
    url: parsed?.href ?? "",
    headers: inner.words("headers") ?? {},
    metadata: inner.object("metadata") ?? {},
    events: (events as WebhookEvent[] | undefined) ?? WEBHOOK_EVENTS,
  };
  for (const name of Object.keys(ask.headers))
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[\r\n\0]/.test(ask.headers[name] ?? ""))
      inner.wrong(`headers.${name}`, "cannot be sent as a header");
  inner.nothingElse();
  return ask;
}
