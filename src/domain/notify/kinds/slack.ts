import { type ChannelKind, hostOf, jsonHeaders, textIn } from "../channel-kind.ts";
import { forSlack } from "../text.ts";

const ICONS = { info: "ℹ️", warning: "⚠️", error: "🔴" } as const;
/** Slack refuses longer ones: 150 and 3000. Escapes make a text longer, so the text before is cut, never an escape. */
const HEADER = 120;
const TEXT = 1500;

/**
 * Foreign text is in `plain_text` objects, which have neither markup nor mentions, and is escaped besides. Only the link
 * to the dashboard is markup.
 */
export const slackKind: ChannelKind = {
  kind: "slack",
  label: "Slack",
  about: "by an incoming webhook",
  fields: {
    url: {
      type: "url",
      label: "Webhook URL",
      about: "of an incoming webhook of your Slack app",
      required: true,
      secret: true,
      example: "https://hooks.slack.com/services/T0/B0/abc",
    },
  },
  target: (settings) => hostOf(textIn(settings, "url")),
  render(settings, { title, entries, left, link, severity }) {
    const single = entries.length === 1;
    const text = (value: string) => ({ type: "plain_text", text: forSlack(value.slice(0, TEXT)), emoji: false });
    const open = (url: string) => `<${url.replace(/[|<>]/g, encodeURIComponent)}|Open in Orbweaver>`;
    const heading = `${ICONS[severity]} ${title}`;
    const blocks: object[] = [
      { type: "header", text: { type: "plain_text", text: forSlack(heading.slice(0, HEADER)), emoji: false } },
    ];
    for (const entry of entries) {
      const facts = entry.facts.map(([name, value]) => `${name}: ${value}`).join("\n");
      const lines = [single ? null : entry.title, entry.text, facts === "" ? null : facts];
      blocks.push({ type: "section", text: text(lines.filter((line) => line !== null).join("\n")) });
      if (entry.link !== null && !single)
        blocks.push({ type: "context", elements: [{ type: "mrkdwn", text: open(entry.link), verbatim: true }] });
    }
    if (left > 0) blocks.push({ type: "section", text: text(`and ${left} more`) });
    if (link !== null)
      blocks.push({ type: "context", elements: [{ type: "mrkdwn", text: open(link), verbatim: true }] });
    const body = {
      // Shown in notifications of the system, and where blocks are not.
      text: forSlack(heading),
      blocks,
      mrkdwn: false,
      parse: "none",
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    };
    return { via: "http", url: textIn(settings, "url") ?? "", headers: jsonHeaders, body: JSON.stringify(body) };
  },
  // One word, such as invalid_token.
  reason: (body) => (/^[a-z_]{3,60}$/.test(body.trim()) ? body.trim() : null),
};
