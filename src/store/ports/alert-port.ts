/** Store methods and records for alerts and their delivery. */
import type { AlertKind } from "../../domain/run/alerts.ts";
import type { EventType } from "../../domain/run/event-catalogue.ts";

export interface NewAlert {
  kind: AlertKind;
  /** What it is about: the name of a site, the id of a run or a worker. */
  subject: string;
  /** One sentence. */
  message: string;
  detail: unknown;
  /** The same alert under the same key is raised once. */
  key: string;
}

export interface AlertRecord extends NewAlert {
  /** The same in every try of its delivery. */
  id: string;
  createdAt: number;
  /** `off`: nobody was to be told. */
  delivery: "waiting" | "delivered" | "given_up" | "off";
  tries: number;
  nextTryAt: number | null;
  lastError: string | null;
  deliveredAt: number | null;
}

/** An event of a run that may be worth an alert. */
export interface FoundEvent {
  id: string;
  runId: string;
  /** The run was started by a step of another one. */
  isPart: boolean;
  type: EventType;
  level: "warn" | "error";
  message: string;
  meta: unknown;
  createdAt: number;
}

export interface AlertStore {
  /**
   * Raises alerts and, with it, says how far the feed of events has been looked through: both or neither. Returns those
   * that were new. `firstTryAt`: somebody tries to deliver them at once, and others only if nothing came of that.
   */
  raiseAlerts(
    alerts: readonly NewAlert[],
    options: { feed?: string; deliver: boolean; firstTryAt?: number },
    now: number,
  ): Promise<AlertRecord[]>;
  /** What it told of is over: under the same key it may be raised again. */
  alertOver(key: string): Promise<void>;
  /** How far the feed was looked through. */
  alertCursor(): Promise<string>;
  /**
   * Looks through at most so many events for those of these types, and says how far it came:
   * `more` of them are left. Short, however long nobody has looked.
   */
  findEvents(options: {
    after: string;
    types: readonly EventType[];
    look: number;
  }): Promise<{ found: FoundEvent[]; last: string; more: boolean }>;
  /**
   * Takes those whose delivery is to be tried now, longest due first; runs that failed come after all others, since there
   * may be very many of them. Until `until` nobody else gets them.
   */
  takeDueAlerts(options: { limit: number; until: number }, now: number): Promise<AlertRecord[]>;
  /**
   * What came of a try; without another one it is given up. One that is not waiting any more stays as it is, and a failure
   * counts once: `tries` are those before it.
   */
  alertTried(
    alert: Pick<AlertRecord, "id" | "tries">,
    outcome: { delivered: true } | { error: string; nextTryAt: number | null },
    now: number,
  ): Promise<AlertRecord>;
  /** Newest first; `after` is the id of one. The last 10,000 are kept, and those that wait. */
  alerts(filter: { kind?: AlertKind; after?: string; limit: number }): Promise<AlertRecord[]>;
  countAlerts(): Promise<{ kind: AlertKind; delivery: AlertRecord["delivery"]; count: number }[]>;
}
