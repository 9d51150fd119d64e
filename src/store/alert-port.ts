/** The verbs and words of the store about what its operator is to be told, wherever that is sent. */
export const ALERT_KINDS = ["breaker_open", "worker_lost", "run_failed", "disk_low"] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

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

export interface AlertVerbs {
  /** Raises alerts and, with it, says how far the feed of events has been looked through: both or neither. */
  raiseAlerts(
    alerts: readonly NewAlert[],
    options: { feed?: string; deliver: boolean },
    now: number,
  ): Promise<AlertRecord[]>;
  /** How far the feed was looked through; null: never. */
  alertCursor(): Promise<string | null>;
  dueAlerts(now: number, limit: number): Promise<AlertRecord[]>;
  alertTried(
    id: string,
    outcome: { delivered: true } | { error: string; nextTryAt: number | null },
    now: number,
  ): Promise<void>;
  /** Newest first; `after` is the id of one. */
  alerts(filter: { kind?: AlertKind; after?: string; limit: number }): Promise<AlertRecord[]>;
}
