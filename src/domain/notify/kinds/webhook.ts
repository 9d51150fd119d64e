import { isoOf } from "../../../base/iso.ts";
import { type ChannelKind, hostOf, jsonHeaders, textIn } from "../channel-kind.ts";
import { notificationKind } from "../types.ts";

export const webhookKind: ChannelKind = {
  kind: "webhook",
  label: "Webhook",
  about: "JSON to your own server, signed",
  fields: {
    url: {
      type: "url",
      label: "URL",
      about: "receives a POST; it may contain a token, so it is not shown again",
      required: true,
      secret: true,
      example: "https://example.com/orb",
    },
    secret: {
      type: "text",
      label: "Signing secret",
      about: "signs X-Orb-Signature (default: APP_WEBHOOK_SECRET)",
      secret: true,
      maxLength: 500,
    },
  },
  target: (settings) => hostOf(textIn(settings, "url")),
  render(settings, { id, severity, title, link, notices, createdAt }) {
    const body = {
      id,
      severity,
      title,
      link,
      created_at: isoOf(createdAt),
      notifications: notices.map((notice) => ({
        id: notice.id,
        type: notice.type,
        severity: notificationKind(notice.type).severity,
        subject: notice.subject,
        message: notice.message,
        site: notice.site,
        job: notice.job,
        run_id: notice.runId,
        detail: notice.detail,
        created_at: isoOf(notice.createdAt),
      })),
    };
    return {
      via: "http",
      url: textIn(settings, "url") ?? "",
      headers: jsonHeaders,
      body: JSON.stringify(body),
      sign: textIn(settings, "secret"),
    };
  },
};
