import type { Redis } from "ioredis";
import type { Log } from "../../base/log.ts";
import { messageOf } from "../../base/errors.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import { controlChannel, ownerChannel } from "./names.ts";

interface ChannelOptions {
  /** Duplicated: a subscribed connection accepts no other commands. */
  redis: Redis;
  prefix: string;
  owner: string;
  log: Log;
  /** Lanes of ours got work. */
  onLanes(lanes: string[]): void;
  /** Limits, pauses or run states changed, or may have: after a reconnect, messages were missed. */
  onControl(): void;
}

/** Notifications for owners. Nothing depends on them: a missed change is found in the store a little later. */
export class RevokeChannel {
  readonly #options: ChannelOptions;
  readonly #redis: Redis;
  #closed = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#redis = options.redis.duplicate();
  }

  open(): void {
    const { prefix, owner, log, onLanes, onControl } = this.#options;
    const outages = new OutageLogger(log);
    const cutOff = (error: unknown) => {
      if (this.#closed) return;
      outages.begins("Redis does not announce changes; the store is polled for them", { error: messageOf(error) });
    };
    let wasReady = false;
    this.#redis.on("error", cutOff);
    this.#redis.on("ready", () => {
      outages.ends("Redis announces changes again");
      if (wasReady) onControl();
      wasReady = true;
    });
    this.#redis.on("message", (channel, message) => {
      if (channel === controlChannel(prefix)) onControl();
      else onLanes(JSON.parse(message) as string[]);
    });
    this.#redis.subscribe(controlChannel(prefix), ownerChannel(prefix, owner)).catch(cutOff);
  }

  close(): void {
    this.#closed = true;
    this.#redis.disconnect();
  }
}
