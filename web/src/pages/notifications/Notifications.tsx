import { useState } from "react";
import { useCall, useChange } from "../../api/query.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import type { Channel } from "./channel-form.ts";
import { ChannelDialog } from "./ChannelDialog.tsx";
import { Deliveries } from "./Deliveries.tsx";
import "../settings/settings.css";
import "./notifications.css";

/** Channels, what they receive, and whether it arrives. */
export default function Notifications() {
  const channels = useCall("listChannels", undefined, { refetchInterval: 15_000 });
  const kinds = useCall("listChannelKinds");
  const [edited, setEdited] = useState<Channel | "new" | null>(null);
  const [doomed, setDoomed] = useState<Channel | null>(null);
  const invalidates = ["listChannels", "listDeliveries"] as const;
  const test = useChange("testChannel", {
    invalidates: [...invalidates],
    onSuccess: ({ delivered, error, channel }) =>
      toast(delivered ? `${channel.name} accepted the message` : `Not delivered: ${error}`, delivered ? "good" : "bad"),
    onError: toastError,
  });
  const enable = useChange("updateChannel", { invalidates: [...invalidates], onError: toastError });
  const remove = useChange("deleteChannel", {
    invalidates: [...invalidates],
    onSuccess: () => {
      setDoomed(null);
      toast("The channel is deleted");
    },
    onError: toastError,
  });
  const add = (
    <Button
      kind="primary"
      icon="plus"
      needs="createChannel"
      disabled={kinds.data === undefined}
      onClick={() => setEdited("new")}
    >
      Add channel
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Notifications"
        note="Channels that are notified of failures, changes and ended runs."
        actions={add}
      />
      <div className="stack">
        <Card title="Channels" flush>
          {channels.error !== null ? (
            <div className="channel-message">
              <ErrorBox error={channels.error} onRetry={() => void channels.refetch()} />
            </div>
          ) : channels.data === undefined ? (
            <div className="channel-message">
              <Skeleton lines={3} />
            </div>
          ) : channels.data.length === 0 ? (
            <EmptyState icon="info" title="No channels yet">
              Get a message by e-mail, Slack, Discord, Teams, Telegram, ntfy or webhook when a run fails, a page changes
              or a site goes down.
            </EmptyState>
          ) : (
            <ul className="plain-lines">
              {channels.data.map((channel) => (
                <li key={channel.id} className="channel-line">
                  <div className="plain-line-main">
                    <b className="settings-part wrap">{channel.name}</b>
                    <span className="soft wrap">
                      {kinds.data?.find(({ kind }) => kind === channel.kind)?.label ?? channel.kind} · {channel.target}
                      {channel.last_delivered_at === null ? (
                        " · nothing delivered yet"
                      ) : (
                        <>
                          {" "}
                          · last delivered <Time at={channel.last_delivered_at} />
                        </>
                      )}
                      {channel.waiting === 0 ? "" : ` · ${channel.waiting} waiting`}
                    </span>
                    {channel.last_error === null || channel.status === "healthy" ? null : (
                      <span className="soft wrap">Last error: {channel.last_error}</span>
                    )}
                  </div>
                  <span className="channel-buttons">
                    <StatusBadge status={channel.status} />
                    <Button
                      size="small"
                      aria-label={`Send a test to ${channel.name}`}
                      busy={test.isPending && test.variables?.params.channel_id === channel.id}
                      onClick={() => test.mutate({ params: { channel_id: channel.id } })}
                    >
                      Send a test
                    </Button>
                    <Button size="small" aria-label={`Change ${channel.name}`} onClick={() => setEdited(channel)}>
                      Change
                    </Button>
                    <Button
                      size="small"
                      aria-label={`${channel.enabled ? "Disable" : "Enable"} ${channel.name}`}
                      onClick={() =>
                        enable.mutate({ params: { channel_id: channel.id }, body: { enabled: !channel.enabled } })
                      }
                    >
                      {channel.enabled ? "Disable" : "Enable"}
                    </Button>
                    <Button
                      size="small"
                      kind="danger"
                      aria-label={`Delete ${channel.name}`}
                      onClick={() => setDoomed(channel)}
                    >
                      Delete
                    </Button>
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Card>
        <Deliveries />
      </div>
      {edited === null || kinds.data === undefined ? null : (
        <ChannelDialog channel={edited === "new" ? null : edited} kinds={kinds.data} onClose={() => setEdited(null)} />
      )}
      <Confirm
        open={doomed !== null}
        onClose={() => setDoomed(null)}
        onConfirm={() => {
          if (doomed !== null) remove.mutate({ params: { channel_id: doomed.id } });
        }}
        title="Delete this channel?"
        verb="Delete channel"
        danger
        busy={remove.isPending}
      >
        <p className="wrap">
          {doomed?.name} and what waits for it are deleted. Jobs that name it notify it no more. This cannot be undone.
        </p>
      </Confirm>
    </>
  );
}
