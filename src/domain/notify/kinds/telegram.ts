import { type ChannelKind, hostOf, jsonHeaders, memberOf, textIn } from "../channel-kind.ts";
import { forTelegram } from "../text.ts";

const ICONS = { info: "ℹ️", warning: "⚠️", error: "🔴" } as const;
/** Telegram refuses more than 4096 characters; escapes do not count there, but do here. */
const MOST = 3500;
const API = "https://api.telegram.org";

export const telegramKind: ChannelKind = {
  kind: "telegram",
  label: "Telegram",
  about: "by a bot",
  fields: {
    bot_token: {
      type: "text",
      label: "Bot token",
      about: "from @BotFather",
      required: true,
      secret: true,
      maxLength: 200,
      pattern: /^\d+:[\w-]+$/,
      expected: "a bot token, such as 123456:ABC-def",
    },
    chat_id: {
      type: "text",
      label: "Chat",
      about: "id of a chat, or @name of a channel; the bot must be a member",
      required: true,
      maxLength: 100,
      pattern: /^(?:-?\d+|@\w+)$/,
      expected: "a number, or @name",
      example: "-1001234567890",
    },
    api_url: {
      type: "url",
      label: "API server",
      about: `your own Bot API server (default: ${API})`,
      destination: true,
    },
  },
  target: (settings) => {
    const api = textIn(settings, "api_url");
    return `chat ${textIn(settings, "chat_id")}${api === null ? "" : ` on ${hostOf(api)}`}`;
  },
  render(settings, { title, entries, left, link, severity }) {
    const single = entries.length === 1;
    const parts = [`${ICONS[severity]} <b>${forTelegram(title)}</b>`];
    const last = [
      ...(left > 0 ? [`and ${left} more`] : []),
      ...(link === null ? [] : [`<a href="${escapedUrl(link)}">Open in Orbweaver</a>`]),
    ];
    let length = parts[0]!.length + last.join("\n\n").length;
    for (const entry of entries) {
      const lines = [
        ...(single ? [] : [`<b>${forTelegram(entry.title)}</b>`]),
        forTelegram(entry.text),
        ...entry.facts.map(([name, value]) => `${name}: ${forTelegram(value)}`),
      ];
      // Whole lines only: a cut tag is refused.
      const kept = lines.filter((line) => (length += line.length + 1) <= MOST);
      if (kept.length > 0) parts.push(kept.join("\n"));
    }
    const body = {
      chat_id: textIn(settings, "chat_id"),
      text: [...parts, ...last].join("\n\n"),
      parse_mode: "HTML",
      link_preview_options: { is_disabled: true },
      disable_notification: severity === "info",
    };
    const url = `${(textIn(settings, "api_url") ?? API).replace(/\/+$/, "")}/bot${textIn(settings, "bot_token")}/sendMessage`;
    return { via: "http", url, headers: jsonHeaders, body: JSON.stringify(body) };
  },
  reason: (body) => memberOf(body, "description"),
};

const escapedUrl = (url: string) =>
  url.replaceAll("&", "&amp;").replaceAll('"', "%22").replaceAll("<", "%3C").replaceAll(">", "%3E");
