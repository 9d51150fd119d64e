import { type ChannelKind, hostOf, jsonHeaders, textIn } from "../channel-kind.ts";

const COLORS = { info: "Accent", warning: "Warning", error: "Attention" } as const;

/** A text run has no Markdown, unlike a text block; and without an entity there is no mention. */
const richText = (text: string, more: object = {}) => ({
  type: "RichTextBlock",
  inlines: [{ type: "TextRun", text, ...more }],
});

export const teamsKind: ChannelKind = {
  kind: "teams",
  label: "Microsoft Teams",
  about: "by a workflow that posts to a channel when it receives a webhook request",
  fields: {
    url: {
      type: "url",
      label: "Workflow URL",
      about: "of the workflow: Workflows → Post to a channel when a webhook request is received",
      required: true,
      secret: true,
      example: "https://prod-01.westeurope.logic.azure.com/workflows/abc",
    },
  },
  target: (settings) => hostOf(textIn(settings, "url")),
  render(settings, { title, entries, left, link, severity }) {
    const single = entries.length === 1;
    const body: object[] = [richText(title, { weight: "Bolder", size: "Medium", color: COLORS[severity] })];
    for (const entry of entries) {
      if (!single) body.push({ ...richText(entry.title, { weight: "Bolder" }), separator: true });
      body.push(richText(entry.text));
      for (const [name, value] of entry.facts) body.push(richText(`${name}: ${value}`, { isSubtle: true }));
    }
    if (left > 0) body.push(richText(`and ${left} more`));
    const card = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body,
      ...(link === null ? {} : { actions: [{ type: "Action.OpenUrl", title: "Open in Orbweaver", url: link }] }),
    };
    const message = {
      type: "message",
      attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: card }],
    };
    return { via: "http", url: textIn(settings, "url") ?? "", headers: jsonHeaders, body: JSON.stringify(message) };
  },
};
