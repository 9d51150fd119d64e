import type { Clock } from "../../base/clock.ts";
import type { Seal } from "../../base/seal.ts";
import type { Config } from "../../config/options.ts";
import { type AddressPolicy, eitherPolicy, parseAddressPolicy } from "../../net/address.ts";
import type { MessageSender } from "./sender.ts";

/** Which addresses channels may have: those of targets, and what the operator opens for notifications alone. */
export function notifyPolicy(config: Config): AddressPolicy {
  return eitherPolicy(
    parseAddressPolicy(config.allowPrivateNetworks),
    parseAddressPolicy(config.notifyPrivateNetworks),
  );
}

/** Loads the network and the mail library only when a message is sent. */
export async function openMessageSender(config: Config, deps: { seal: Seal; clock: Clock }): Promise<MessageSender> {
  const { createMessageSender } = await import("./sender.ts");
  const { webhookSecret: secret, userAgent } = config;
  return createMessageSender({ policy: notifyPolicy(config), secret, userAgent, seal: deps.seal, clock: deps.clock });
}
