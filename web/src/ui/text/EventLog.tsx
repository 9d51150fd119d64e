import { useMemo, useState } from "react";
import { count, exactTime, fullNumber } from "../../logic/format.ts";
import {
  clockTime,
  type EventList,
  type LevelChoice,
  MOST_EVENTS,
  noEvents,
  type RunEvent,
  shownEvents,
} from "../../logic/run-events.ts";
import { Badge } from "../Badge.tsx";
import { Button } from "../Button.tsx";
import { Card, KeyValue } from "../Card.tsx";
import { Code } from "./Code.tsx";
import { Dialog } from "../overlay/Dialog.tsx";
import { Input, Segmented, Switch } from "../Field.tsx";
import { Icon } from "../Icon.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../States.tsx";
import { type Column, Table } from "../table/Table.tsx";
import { useDrawer } from "../overlay/useDrawer.ts";
import { useEvents } from "./useEvents.ts";
import "./event-log.css";

const LEVELS = [
  { value: "all", name: "All" },
  { value: "warn", name: "Warnings" },
  { value: "error", name: "Errors" },
] as const;

const LOOKS = {
  info: { tone: "muted", icon: "info", name: "Info" },
  warn: { tone: "warn", icon: "warning", name: "Warning" },
  error: { tone: "bad", icon: "cross", name: "Error" },
} as const;

const COLUMNS: Column<RunEvent>[] = [
  {
    id: "time",
    name: "Time",
    width: "104px",
    cell: ({ created_at }) => (
      <time className="mono soft" dateTime={created_at} title={exactTime(Date.parse(created_at))}>
        {clockTime(created_at)}
      </time>
    ),
  },
  { id: "level", name: "Level", width: "104px", cell: ({ level }) => <Level level={level} /> },
  {
    id: "message",
    name: "Event",
    width: "minmax(200px, 1fr)",
    phone: "head",
    cell: ({ message }) => (
      <span className="two-lines" title={message}>
        {message}
      </span>
    ),
  },
];

const NONE = noEvents();

function footerOf(shown: number, kept: number, runId: string): string {
  if (kept < MOST_EVENTS) return count(shown, "event");
  const some = shown === kept ? "The" : `${fullNumber(shown)} of the`;
  return `${some} newest ${count(MOST_EVENTS, "event")} shown; for all events: orb runs events ${runId.slice(0, 8)}`;
}

/** Events of a run, newest first; new ones appear at the top while following. */
export function EventLog({ runId, isActive }: { runId: string; isActive: boolean }) {
  const { data, error, isPending, refetch } = useEvents(runId);
  const [level, setLevel] = useState<LevelChoice>("all");
  const [text, setText] = useState("");
  // The list when following stopped; null: following.
  const [held, setHeld] = useState<EventList | null>(null);
  const drawer = useDrawer("event", { tab: "events" });
  const all = data ?? NONE;
  const opened = all.list.find(({ id }) => id === drawer.opened) ?? null;
  const { list, total } = held ?? all;
  const rows = useMemo(() => shownEvents(list, { level, text }).toReversed(), [list, level, text]);
  if (error !== null && data === undefined) return <ErrorBox error={error} onRetry={() => void refetch()} />;
  const unseen = all.total - total;
  return (
    <div className="stack">
      <div className="event-tools">
        <Segmented
          label="Level"
          value={level}
          choices={LEVELS}
          onChange={(value) => setLevel(LEVELS.find((one) => one.value === value)?.value ?? "all")}
        />
        <Input
          label="Search events"
          bare
          type="search"
          placeholder="Search events"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        {isActive || held !== null ? (
          <Switch
            label="Follow"
            checked={held === null}
            onChange={({ target }) => setHeld(target.checked ? null : all)}
          />
        ) : null}
        {unseen > 0 ? (
          <Button size="small" icon="up" onClick={() => setHeld(all)}>
            {`Show ${count(unseen, "new event")}`}
          </Button>
        ) : null}
      </div>
      <Card flush>
        {isPending ? (
          <div className="event-loading">
            <Skeleton lines={6} />
          </div>
        ) : (
          <Table
            label="Events"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            onOpen={({ id }) => drawer.open(id)}
            rowHeight={38}
            empty={
              <EmptyState title={list.length === 0 ? "No events yet" : "No matching events"}>
                {list.length === 0
                  ? "Starts, retries, strategy changes and ends appear here as they happen."
                  : "Try other words or another level."}
              </EmptyState>
            }
            footer={footerOf(rows.length, list.length, runId)}
          />
        )}
      </Card>
      <Dialog open={opened !== null} onClose={drawer.close} title="Event" side>
        {opened === null ? null : (
          <div className="stack">
            <p className="wrap event-text">{opened.message}</p>
            <KeyValue
              pairs={[
                { name: "When", value: exactTime(Date.parse(opened.created_at)) },
                { name: "Type", value: <code className="mono">{opened.type}</code> },
                { name: "Level", value: <Level level={opened.level} /> },
              ]}
            />
            {Object.keys(opened.meta).length === 0 ? null : (
              <Code text={JSON.stringify(opened.meta, null, 2)} wrap label="Copy details" />
            )}
          </div>
        )}
      </Dialog>
    </div>
  );
}

function Level({ level }: { level: RunEvent["level"] }) {
  const { tone, icon, name } = LOOKS[level];
  return (
    <Badge tone={tone}>
      <Icon name={icon} size={12} />
      {name}
    </Badge>
  );
}
