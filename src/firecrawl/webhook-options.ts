/** Who is to be told of a crawl or a batch. */
import { WEBHOOK_EVENTS, type WebhookEvent } from "../domain/run/webhooks.ts";
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
    headers: withoutType(inner.words("headers") ?? {}),
    metadata: inner.object("metadata") ?? {},
    events: (events as WebhookEvent[] | undefined) ?? WEBHOOK_EVENTS,
  };
  for (const [name, value] of Object.entries(ask.headers)) {
    const why = whyNotSent(name, value);
    if (why !== null) inner.wrong(`headers.${name.slice(0, 100)}`, why);
  }
  inner.nothingElse();
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
  if (OURS.has(name.toLowerCase())) return "is set by this server: leave it out";
  // What HTTP can carry: tabs, and what is visible in Latin-1.
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? null : "has characters that a header cannot have";
}
