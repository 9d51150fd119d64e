import { type ChannelKind, hostOf, jsonHeaders, memberOf, textIn } from "../channel-kind.ts";
import { textOf } from "../message.ts";
import { defused } from "../text.ts";

const PRIORITIES = { info: 3, warning: 4, error: 5 } as const;
const TAGS = { info: "information_source", warning: "warning", error: "rotating_light" } as const;
const SERVER = "https://ntfy.sh";
/** A longer message becomes an attachment. */
const MOST_BYTES = 3800;

/** Whole lines if possible: half a link of ours would lead elsewhere. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_BYTES) return text;
  const start = bytes
    .subarray(0, MOST_BYTES)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  const line = start.lastIndexOf("\n");
  return line > 0 ? `${start.slice(0, line)}\n…` : `${start}…`;
}

export const ntfyKind: ChannelKind = {
  kind: "ntfy",
  label: "ntfy",
  about: "to a topic of ntfy.sh or your own server",
  fields: {
    topic: {
      type: "text",
      label: "Topic",
      about: "anyone who knows a topic of ntfy.sh can read it: take a long random name, or use a token",
      required: true,
      maxLength: 64,
      pattern: /^[\w-]+$/,
      expected: "letters, digits, - and _",
      example: "orb-7f3k2",
    },
    server: {
      type: "url",
      label: "Server",
      about: `your own server (default: ${SERVER})`,
      destination: true,
      example: "https://ntfy.example.com",
    },
    token: {
      type: "text",
      label: "Access token",
      about: "of the server",
      secret: true,
      maxLength: 500,
      pattern: /^[\x21-\x7e]+$/,
      expected: "a token without spaces",
    },
  },
  target: (settings) => `${hostOf(textIn(settings, "server") ?? SERVER)}/${textIn(settings, "topic")}`,
  render(settings, message) {
    const token = textIn(settings, "token");
    const text = textOf({ ...message, link: null }, defused);
    const body = {
      topic: textIn(settings, "topic"),
      title: defused(message.title),
      // Not Markdown unless it says so.
      message: cut(text),
      priority: PRIORITIES[message.severity],
      tags: [TAGS[message.severity]],
      ...(message.link === null ? {} : { click: message.link }),
    };
    return {
      via: "http",
      url: textIn(settings, "server") ?? SERVER,
      headers: { ...jsonHeaders, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    };
  },
  reason: (body) => memberOf(body, "error"),
};
