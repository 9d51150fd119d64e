/** Options of alerts and notifications, part of the table of all options. */
import { option, optional } from "./option.ts";
import * as type from "./types.ts";

export const NOTIFY_OPTIONS = {
  alertWebhookUrl: optional({
    name: "APP_ALERT_WEBHOOK_URL",
    type: type.url(["http", "https"]),
    about: "Webhook URL for alerts. It often contains a secret, so it is never shown.",
    example: "https://hooks.example.com/T0/B0",
    secret: "whole",
  }),
  webhookSecret: optional({
    name: "APP_WEBHOOK_SECRET",
    type: type.strongSecret(16),
    about: "Signs outgoing webhooks.",
    example: "the output of `openssl rand -hex 32`",
    secret: "whole",
  }),
  publicUrl: optional({
    name: "APP_PUBLIC_URL",
    type: type.url(["http", "https"]),
    about:
      "URL under which people open the dashboard; notifications link to it, and a provider (APP_OIDC_ISSUER) sends people back to it. Without it, notifications have no links.",
    example: "https://orb.example.com",
  }),
  notifyPrivateNetworks: option({
    name: "APP_NOTIFY_PRIVATE_NETWORKS",
    type: type.privateNetworks,
    default: "false",
    about:
      "Allows notification channels at loopback and private addresses, besides APP_ALLOW_PRIVATE_NETWORKS: all, or those in a list of CIDRs.",
    example: "10.0.0.25,192.168.7.0/24",
  }),
} as const;
