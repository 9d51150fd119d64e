/** Store methods and records for notification channels, and for what they deliver. */
import type { Settings } from "../../../domain/notify/channel-kind.ts";
import type { Notice } from "../../../domain/notify/message.ts";
import type { QuietHours } from "../../../domain/notify/quiet-hours.ts";
import type { NotificationRule } from "../../../domain/notify/rules.ts";
import type { DeliveryState, NotificationType } from "../../../domain/notify/types.ts";
import type { Created, IdempotencyKey } from "../../records/job-records.ts";

export interface NewChannel {
  name: string;
  kind: string;
  /** Without secrets. */
  settings: Settings;
  sealed: Uint8Array;
  target: string;
  rules: readonly NotificationRule[];
  quiet: QuietHours | null;
  /** Within this time, one message. */
  groupMs: number;
  enabled: boolean;
}

export interface ChannelRecord extends NewChannel {
  id: string;
  /** Since when it accepts nothing; null: the last message was accepted. */
  failingSince: number | null;
  lastError: string | null;
  lastErrorAt: number | null;
  lastDeliveredAt: number | null;
  /** Deliveries that wait. */
  waiting: number;
  createdAt: number;
  updatedAt: number;
}

/** An event of a run that channels may be notified of. */
export interface NewNotice {
  /** Deduplicates: a notice with a known key is not stored again. */
  key: string;
  type: NotificationType;
  subject: string;
  message: string;
  detail: unknown;
  runId: string | null;
  createdAt: number;
}

export interface DeliveryRecord {
  id: string;
  channel: { id: string; name: string };
  notice: Notice;
  /** The id of the message, which is that of its first notice; null: not sent yet. */
  messageId: string | null;
  state: DeliveryState;
  tries: number;
  nextTryAt: number | null;
  lastError: string | null;
  createdAt: number;
  deliveredAt: number | null;
}

/** One message that is due. */
export interface DueMessage {
  channel: ChannelRecord;
  /** Identifies the message for `messageTried`. */
  batch: number;
  /** The same notices in the same order at every attempt; the id of the first is the id of the message. */
  notices: readonly Notice[];
  tries: number;
}

export interface NotifyStore {
  /** Throws for a name that is in use. */
  createChannel(channel: NewChannel, now: number, once?: IdempotencyKey): Promise<Created<ChannelRecord>>;
  /** By its id or its name. */
  channel(id: string): Promise<ChannelRecord | null>;
  /** All of them, by name. */
  channels(): Promise<ChannelRecord[]>;
  /** What waits for a channel that is disabled is given up. */
  updateChannel(id: string, change: Partial<NewChannel>, now: number): Promise<ChannelRecord>;
  /** With its deliveries. */
  deleteChannel(id: string): Promise<void>;
  /** Leases the message that has been due longest until `until`, outside of quiet hours. Null: none is due. */
  takeDueMessage(until: number, now: number): Promise<DueMessage | null>;
  /** A message that the caller sends at once: the test of a channel. */
  startTest(id: string, until: number, now: number): Promise<DueMessage>;
  /**
   * Records an attempt; without a next attempt the message is given up. `refused` is what some of several receivers
   * refused, kept as its last error. A failure counts once: `tries` is the count
   * before it. The third failure, and giving up, raise the alert `channel_failing`, once until a message is accepted.
   */
  messageTried(
    message: Pick<DueMessage, "batch" | "tries">,
    outcome: { delivered: true; refused?: string | null } | { error: string; nextTryAt: number | null },
    options: { deliver: boolean },
    now: number,
  ): Promise<void>;
  /** Newest first. The last 10,000 are kept, and all that wait. */
  deliveries(filter: {
    channel?: string;
    state?: DeliveryState;
    after?: string;
    limit: number;
  }): Promise<DeliveryRecord[]>;
}
