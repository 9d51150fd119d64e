import type { Collector } from "../kernel/connection.ts";
import { type Context, RANK } from "../kernel/context.ts";

/** A change of rows of sites: which ones, by name or by any of their lanes. */
interface SiteChange {
  sites?: readonly string[];
  lanes?: readonly number[];
  write(): void;
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
    for (const { write } of changes) write();
  },
};
