/** What channels were sent, and what waits. */
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { DeliveryState } from "../../domain/notify/types.ts";
import type { Store } from "../../store/ports/port.ts";
import type { NotificationDeps } from "./channels.ts";

export interface DeliveryView {
  id: string;
  channel_id: string;
  channel: string;
  /** The same in every channel and attempt. */
  notification_id: string;
  message_id: string | null;
  type: string;
  subject: string;
  message: string;
  job_id: string | null;
  job_name: string | null;
  site: string | null;
  run_id: string | null;
  state: DeliveryState;
  tries: number;
  next_try_at: string | null;
  last_error: string | null;
  created_at: string;
  delivered_at: string | null;
}

export async function listDeliveries(
  { store }: Pick<NotificationDeps, "store">,
  filter: Parameters<Store["deliveries"]>[0],
): Promise<DeliveryView[]> {
  return (await store.deliveries(filter)).map(({ channel, notice, ...delivery }) => ({
    id: delivery.id,
    channel_id: channel.id,
    channel: channel.name,
    notification_id: notice.id,
    message_id: delivery.messageId,
    type: notice.type,
    subject: notice.subject,
    message: notice.message,
    job_id: notice.job?.id ?? null,
    job_name: notice.job?.name ?? null,
    site: notice.site,
    run_id: notice.runId,
    state: delivery.state,
    tries: delivery.tries,
    next_try_at: isoOrNull(delivery.nextTryAt),
    last_error: delivery.lastError,
    created_at: isoOf(delivery.createdAt),
    delivered_at: isoOrNull(delivery.deliveredAt),
  }));
}
