/** Every kind of channel, one line each. */
import type { ChannelKind } from "./channel-kind.ts";
import { appriseKind } from "./kinds/apprise.ts";
import { discordKind } from "./kinds/discord.ts";
import { emailKind } from "./kinds/email.ts";
import { ntfyKind } from "./kinds/ntfy.ts";
import { slackKind } from "./kinds/slack.ts";
import { teamsKind } from "./kinds/teams.ts";
import { telegramKind } from "./kinds/telegram.ts";
import { webhookKind } from "./kinds/webhook.ts";

export const CHANNEL_KINDS: readonly ChannelKind[] = [
  emailKind,
  slackKind,
  discordKind,
  teamsKind,
  telegramKind,
  ntfyKind,
  webhookKind,
  appriseKind,
];

export const CHANNEL_KIND_NAMES = CHANNEL_KINDS.map(({ kind }) => kind);

export function channelKind(name: string): ChannelKind {
  const kind = CHANNEL_KINDS.find((one) => one.kind === name);
  if (kind === undefined) throw new Error(`there is no kind of channel ${name}`);
  return kind;
}
