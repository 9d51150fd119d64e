import type { Collector } from "../kernel/connection.ts";
import { type Context, RANK } from "../kernel/context.ts";

/** A change of rows of sites: which ones, by name or by any of their lanes. */
interface SiteChange {
  sites?: readonly string[];
  lanes?: readonly number[];
  /** May ask first, and return what writes by the answer: all changes ask before the first of them needs one. */
  write(): void | (() => void);
  /** Changes of one subject see each other's rows: the second asks after the first has written. */
  subject?: string;
}

/** Many writers share sites: they are changed at the end of the transaction, after all of them were locked in order. */
export function changeSites({ connection }: Context, change: SiteChange): void {
  connection.atEnd(CHANGES, change);
}

const LOCK = `SELECT 1 FROM sites WHERE site IN (SELECT value FROM json_each(?) UNION SELECT s.site FROM sites s WHERE s.lane IN
  (SELECT coalesce(l.parent_lane, l.id) FROM lanes l WHERE l.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))))
  ORDER BY site`;

const CHANGES: Collector<SiteChange> = {
  rank: RANK.sites,
  write(connection, changes) {
    const { isShared, forUpdate } = connection.dialect;
    const sites = new Set(changes.flatMap((change) => change.sites ?? []));
    const lanes = new Set(changes.flatMap((change) => change.lanes ?? []));
    if (isShared && (sites.size > 1 || lanes.size > 0))
      connection.sql(`${LOCK} ${forUpdate}`).run(JSON.stringify([...sites]), JSON.stringify([...lanes]));
    for (const round of roundsOf(changes)) {
      const writes = round.map(({ write }) => write());
      for (const write of writes) write?.();
    }
  },
};

/** In order; no subject occurs twice in a round. */
function roundsOf(changes: readonly SiteChange[]): SiteChange[][] {
  const rounds: SiteChange[][] = [];
  const last = new Map<string, number>();
  for (const change of changes) {
    const { subject } = change;
    const round = subject === undefined ? Math.max(0, rounds.length - 1) : (last.get(subject) ?? -1) + 1;
    if (subject !== undefined) last.set(subject, round);
    (rounds[round] ??= []).push(change);
  }
  return rounds;
}
