import { type ChannelKind, hostOf, jsonHeaders, memberOf, textIn } from "../channel-kind.ts";
import { forDiscord } from "../text.ts";

/** Discord refuses longer descriptions. */
const MOST = 4000;

const COLORS = { info: 0x3b82f6, warning: 0xf59e0b, error: 0xdc2626 } as const;

export const discordKind: ChannelKind = {
  kind: "discord",
  label: "Discord",
  about: "by the webhook of a channel",
  fields: {
    url: {
      type: "url",
      label: "Webhook URL",
      about: "of a channel: Edit channel → Integrations → Webhooks",
      required: true,
      secret: true,
      example: "https://discord.com/api/webhooks/1/abc",
    },
  },
  target: (settings) => hostOf(textIn(settings, "url")),
  render(settings, { title, entries, left, link, severity, createdAt }) {
    const single = entries.length === 1;
    const lines = entries.map((entry) => {
      const head = single ? [] : [`**${forDiscord(entry.title)}**`];
      // Facts of a single one are fields.
      const facts = single ? [] : entry.facts.map(([name, value]) => `${name}: ${forDiscord(value)}`);
      return [...head, forDiscord(entry.text), ...facts].join("\n");
    });
    if (left > 0) lines.push(`and ${left} more`);
    let length = 0;
    // Whole entries only: half an escape would escape what follows.
    const kept = lines.filter((line) => (length += line.length + 2) <= MOST);
    const embed = {
      title: forDiscord(title.slice(0, 100)),
      description: kept.join("\n\n"),
      color: COLORS[severity],
      timestamp: new Date(createdAt).toISOString(),
      ...(link === null ? {} : { url: link }),
      ...(single
        ? {
            fields: entries[0]!.facts.map(([name, value]) => ({
              name,
              value: forDiscord(value.slice(0, 400)),
              inline: name !== "Numbers",
            })),
          }
        : {}),
    };
    const body = { embeds: [embed], allowed_mentions: { parse: [] } };
    return { via: "http", url: textIn(settings, "url") ?? "", headers: jsonHeaders, body: JSON.stringify(body) };
  },
  reason: (body) => memberOf(body, "message"),
};
