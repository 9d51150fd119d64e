/** What notifications are about: alerts, and events of runs. */
import type { EventType } from "../run/event-catalogue.ts";
import type { AlertKind } from "../run/alerts.ts";

export const SEVERITIES = ["info", "warning", "error"] as const;
export type Severity = (typeof SEVERITIES)[number];

export const DELIVERY_STATES = ["waiting", "delivered", "given_up"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

interface NotificationKind {
  severity: Severity;
  /** The title of a message. */
  title: string;
  about: string;
  /** The event it comes from; without it, an alert has the same name. */
  event?: EventType;
  /** Comes with every run: a rule must name it. */
  onlyNamed?: true;
}

/** A published type keeps its name and meaning; new ones may be added at any time. */
const NOTIFICATIONS = {
  run_failed: { severity: "error", title: "Run failed", about: "a run failed", event: "run.failed" },
  run_partial: {
    severity: "warning",
    title: "Run partly failed",
    about: "a run ended, and some of it failed or was not done",
    event: "run.partial",
  },
  run_completed: {
    severity: "info",
    title: "Run completed",
    about: "a run ended, and nothing failed",
    event: "run.completed",
    onlyNamed: true,
  },
  run_cancelled: {
    severity: "info",
    title: "Run cancelled",
    about: "a run was cancelled",
    event: "run.cancelled",
    onlyNamed: true,
  },
  waiting_for_human: {
    severity: "warning",
    title: "A run needs you",
    about: "a run waits for a person, such as for a CAPTCHA or a sign-in",
    event: "run.waiting_for_human",
  },
  extraction_degraded: {
    severity: "warning",
    title: "Records degraded",
    about: "the records of a run are worse than before",
  },
  repair_proposed: { severity: "info", title: "Repair proposed", about: "new rules for broken fields are proposed" },
  repair_accepted: { severity: "info", title: "Rules repaired", about: "a job with auto_repair got new rules" },
  monitor_changed: {
    severity: "info",
    title: "Pages changed",
    about: "a monitor found new, changed or removed pages",
  },
  breaker_open: { severity: "warning", title: "Circuit opened", about: "the circuit of a site opened" },
  worker_lost: { severity: "error", title: "Worker lost", about: "a worker stopped sending heartbeats" },
  crash_loop: { severity: "error", title: "Crash loop", about: "a supervised process crashes repeatedly" },
  disk_low: { severity: "error", title: "Disk low", about: "too little disk space is free; work pauses" },
  disk_budget: { severity: "warning", title: "Disk budget", about: "the data nears APP_DISK_BUDGET_MB" },
  channel_failing: {
    severity: "error",
    title: "Notifications fail",
    about: "another channel accepts no messages",
  },
  test: { severity: "info", title: "Test", about: "the test of a channel", onlyNamed: true },
} as const satisfies Record<string, NotificationKind>;

export type NotificationType = keyof typeof NOTIFICATIONS;

const ALL: Readonly<Record<NotificationType, NotificationKind>> = NOTIFICATIONS;

export const notificationKind = (type: NotificationType): NotificationKind => ALL[type];

/** Types that a rule may name. */
export const NOTIFICATION_TYPES = (Object.keys(ALL) as NotificationType[]).filter((type) => type !== "test");

/** Types that a rule without types matches. */
export const USUAL_TYPES = NOTIFICATION_TYPES.filter((type) => ALL[type].onlyNamed !== true);

const BY_EVENT = new Map(
  Object.entries(ALL).flatMap(([type, { event }]) =>
    event === undefined ? [] : [[event, type as NotificationType] as const],
  ),
);

/** The events that notifications come from. */
export const NOTIFYING_EVENTS = [...BY_EVENT.keys()];

export const typeOfEvent = (event: EventType): NotificationType | null => BY_EVENT.get(event) ?? null;

/** Null: notifications of it come from its events. */
export function typeOfAlert(kind: AlertKind): NotificationType | null {
  if (kind === "test" || kind === "run_failed") return null;
  return kind;
}
