/** Store methods and records for alerts and their delivery. */
import type { AlertKind } from "../../domain/run/alerts.ts";
import type { EventLevel, EventType } from "../../domain/run/event-catalogue.ts";
import type { NewNotice } from "./notify/notify-port.ts";

export interface NewAlert {
  kind: AlertKind;
  /** A site's name, or the id of a run or a worker. */
  subject: string;
  /** One sentence. */
  message: string;
  detail: unknown;
  /** Deduplicates: an alert with a known key is not raised again. */
  key: string;
}

export interface AlertRecord extends NewAlert {
  /** The same in every delivery attempt. */
  id: string;
  createdAt: number;
  /** `off`: no receiver was configured. */
  delivery: "waiting" | "delivered" | "given_up" | "off";
  tries: number;
  nextTryAt: number | null;
  lastError: string | null;
  deliveredAt: number | null;
}

/** A run event that may raise an alert. */
export interface FoundEvent {
  id: string;
  runId: string;
  /** The run is a child run of a workflow step. */
  isPart: boolean;
  type: EventType;
  level: EventLevel;
  message: string;
  meta: unknown;
  createdAt: number;
}

export interface AlertStore {
  /**
   * Raises alerts and moves the feed cursor, in one transaction. Returns the new alerts. `firstTryAt`: the caller
   * delivers them at once itself, and others only try from then on. `notices`: notifications of events before `feed`.
   */
  raiseAlerts(
    alerts: readonly NewAlert[],
    options: { feed?: string; deliver: boolean; firstTryAt?: number; notices?: readonly NewNotice[] },
    now: number,
  ): Promise<AlertRecord[]>;
  /** Closes an alert: the same key may be raised again. */
  alertOver(key: string): Promise<void>;
  /** The feed position up to which events were checked. */
  alertCursor(): Promise<string>;
  /**
   * Scans at most `look` warnings, errors and ends of runs for these types, and returns how far it came; `more`: events are left. Bounded, however
   * long the backlog is.
   */
  findEvents(options: {
    after: string;
    types: readonly EventType[];
    look: number;
  }): Promise<{ found: FoundEvent[]; last: string; more: boolean }>;
  /**
   * Leases alerts that are due for delivery until `until`, longest due first; failed runs come last, since there may be
   * very many of them.
   */
  takeDueAlerts(options: { limit: number; until: number }, now: number): Promise<AlertRecord[]>;
  /**
   * Records a delivery attempt; without a next attempt the alert is given up. Alerts that no longer wait stay as they
   * are, and a failure counts once: `tries` is the count before it.
   */
  alertTried(
    alert: Pick<AlertRecord, "id" | "tries">,
    outcome: { delivered: true } | { error: string; nextTryAt: number | null },
    now: number,
  ): Promise<AlertRecord>;
  /** Newest first; `after` is an alert id. The last 10,000 are kept, and all that wait for delivery. */
  alerts(filter: { kind?: AlertKind; after?: string; limit: number }): Promise<AlertRecord[]>;
  countAlerts(): Promise<{ kind: AlertKind; delivery: AlertRecord["delivery"]; count: number }[]>;
}
