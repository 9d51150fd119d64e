/** Sends messages to notification channels. Loaded when a message is due: it brings the network and the mail library. */
import type { Clock } from "../../base/clock.ts";
import { isOrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import type { Settings } from "../../domain/notify/channel-kind.ts";
import type { Message } from "../../domain/notify/message.ts";
import { channelKind } from "../../domain/notify/registry.ts";
import { SEALED_FOR_CHANNEL } from "../../domain/notify/settings.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { createHttpClient } from "../../net/http-client.ts";
import type { ChannelRecord } from "../../store/ports/notify/notify-port.ts";
import { HTTP_TRY_MS, sendByHttp } from "./http-delivery.ts";
import { sendByMail, type Trust } from "./mail-delivery.ts";

export interface MessageSender {
  /**
   * Throws unless the receiver accepts it. The error says why, without secrets. Returns what some of several receivers
   * refused; null: nothing.
   */
  send(
    channel: Pick<ChannelRecord, "kind" | "settings" | "sealed">,
    message: Message,
    signal?: AbortSignal,
  ): Promise<string | null>;
  close(): Promise<void>;
}

interface SenderOptions {
  /** Which addresses channels may have. */
  policy: AddressPolicy;
  /** Signs webhooks without a secret of their own. */
  secret: string | null;
  seal: Seal;
  clock: Clock;
  userAgent: string;
  /** Extra trust, for tests. */
  tls?: Trust;
}

export function createMessageSender({ policy, secret, seal, clock, userAgent, tls }: SenderOptions): MessageSender {
  const limits = { connectMs: HTTP_TRY_MS, totalMs: HTTP_TRY_MS };
  const trust = tls === undefined ? {} : { tls };
  const http = createHttpClient({ policy, clock, userAgent, limits, ...trust });
  return {
    async send({ kind: name, settings, sealed }, message, signal) {
      const kind = channelKind(name);
      const delivery = kind.render({ ...settings, ...opened(seal, sealed) }, message);
      if (delivery.via === "smtp") return sendByMail({ policy, clock, ...trust }, delivery, message, signal);
      await sendByHttp({ http, clock, secret }, delivery, { message, reason: kind.reason ?? null }, signal);
      return null;
    },
    close: () => http.close(),
  };
}

function opened(seal: Seal, sealed: Uint8Array): Settings {
  try {
    return seal.open(sealed, SEALED_FOR_CHANNEL) as Settings;
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    throw new Error("its secrets cannot be decrypted with the current APP_SECRET_KEY: enter them again", {
      cause: error,
    });
  }
}
