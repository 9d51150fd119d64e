/** Assigns tasks to lanes and streams. Missing lanes, sites and streams are created, in a fixed number of statements per list. */
import type { ForEach, Value } from "../kernel/connection.ts";
import { shardOfKey } from "../../../domain/lane/shards.ts";
import type { Context } from "../kernel/context.ts";
import { changeSites } from "../sites/change-sites.ts";
import { NEW_LANES, shardLane } from "./shards.ts";

/** The lane of a task, and the site it requests; '': no site. */
export interface LaneAssignment {
  lane: number;
  laneName: string;
  site: string;
  /** The number of lanes the site is sharded over; `lane` is the first of them. */
  shardCount: number;
  shard: number;
}

const FIND_LANE: ForEach = {
  text: "SELECT new.row_index AS row_index, l.id FROM lanes l, new WHERE l.lane = new.lane",
  columns: { lane: "text" },
};

/** `lease_until` is set when a lane gets its first task: the audit reads from it how long the lane has waited. */
const MAKE_LANE: ForEach = {
  text: "INSERT INTO lanes (lane, lease_until) SELECT new.lane, new.lease_until FROM new WHERE true ORDER BY new.row_index ON CONFLICT (lane) DO NOTHING",
  columns: { lane: "text", lease_until: "double precision" },
};

const FIND_SITE: ForEach = {
  text: `SELECT new.row_index AS row_index, p.lane, l.lane AS name, p.shard_count, p.first_seen_at
    FROM sites p JOIN lanes l ON l.id = p.lane, new WHERE p.site = new.site`,
  columns: { site: "text" },
};

const SEE_SITE: ForEach = {
  text: "UPDATE sites SET first_seen_at = new.at FROM new WHERE sites.site = new.site",
  columns: { site: "text", at: "bigint" },
};

const MAKE_SITE: ForEach = {
  text: "INSERT INTO sites (site, lane, first_seen_at) SELECT new.site, new.lane, new.at FROM new WHERE true ORDER BY new.row_index ON CONFLICT (site) DO NOTHING",
  columns: { site: "text", lane: "bigint", at: "bigint" },
};

const COUNT_SITE: ForEach = {
  text: "INSERT INTO site_counts (site) SELECT new.site FROM new WHERE true ORDER BY new.row_index ON CONFLICT (site) DO NOTHING",
  columns: { site: "text" },
};

/** Finds or creates lanes; `names` has no duplicates. */
function lanesOf({ connection, leaseNow }: Context, names: readonly string[]): Map<string, number> {
  const { dialect } = connection;
  const ids = new Map<string, number>();
  const find = (list: readonly string[]): string[] => {
    const found = dialect.eachFirst(
      connection,
      FIND_LANE,
      list.map((name) => [name]),
    );
    return list.filter((name, index) => {
      const id = found[index]?.["id"];
      if (id !== undefined) ids.set(name, Number(id));
      return id === undefined;
    });
  };
  const missing = find(names);
  if (missing.length === 0) return ids;
  const now = leaseNow();
  dialect.lockName(connection, NEW_LANES);
  dialect.each(
    connection,
    MAKE_LANE,
    missing.map((name) => [name, now]),
  );
  find(missing);
  return ids;
}

export function laneId(context: Context, lane: string): number {
  return lanesOf(context, [lane]).get(lane) as number;
}

interface SiteRow {
  lane: number;
  name: string;
  shard_count: number;
  first_seen_at: number | null;
}

/** Sites that exist, by name; those that are missing are looked up again when they are needed. */
export type KnownSites = ReadonlyMap<string, SiteRow>;

/** Looks up sites before it is known which of them are needed; see `Dialect.lookUp`. */
export function lookUpSites({ connection }: Context, sites: readonly string[]): () => KnownSites {
  const found = connection.dialect.lookUp(
    connection,
    FIND_SITE,
    sites.map((site) => [site]),
  );
  return () =>
    new Map(
      found().flatMap((row, index): [string, SiteRow][] =>
        row === undefined ? [] : [[sites[index] as string, row as unknown as SiteRow]],
      ),
    );
}

/** A known site keeps its lane, whatever the task's own; a new site gets the lane of its first task. */
export function assignLanes(
  context: Context,
  list: readonly { lane: string; site: string | null }[],
  now: number,
  knownSites: KnownSites = new Map(),
): LaneAssignment[] {
  const { connection } = context;
  const { dialect } = connection;
  const sites = [...new Set(list.flatMap(({ site }) => (site === null ? [] : [site])))];
  const missing = sites.filter((site) => !knownSites.has(site));
  const found = missing.length === 0 ? null : lookUpSites(context, missing)();
  const known = new Map<string, LaneAssignment>();
  const unseen: Value[][] = [];
  for (const site of sites) {
    const row = knownSites.get(site) ?? found?.get(site);
    if (row === undefined) continue;
    if (row.first_seen_at === null) unseen.push([site, now]);
    known.set(site, { lane: row.lane, laneName: row.name, site, shardCount: row.shard_count, shard: 0 });
  }
  if (unseen.length > 0)
    changeSites(context, {
      sites: unseen.map(([site]) => site as string),
      write: () => dialect.each(connection, SEE_SITE, unseen),
    });
  const fresh = list.filter(({ site }) => site === null || !known.has(site));
  if (fresh.length === 0) return list.map(({ site }) => known.get(site as string) as LaneAssignment);
  const lanes = lanesOf(context, [...new Set(fresh.map(({ lane }) => lane))]);
  const created: Value[][] = [];
  for (const { lane: laneName, site } of fresh) {
    if (site === null || known.has(site)) continue;
    const lane = lanes.get(laneName) as number;
    known.set(site, { lane, laneName, site, shardCount: 1, shard: 0 });
    created.push([site, lane, now]);
  }
  for (const [site, lane] of makeSites(context, created)) known.set(site, lane);
  return list.map(({ lane: laneName, site }) =>
    site === null
      ? { lane: lanes.get(laneName) as number, laneName, site: "", shardCount: 1, shard: 0 }
      : (known.get(site) as LaneAssignment),
  );
}

/** The shard of a task whose site is sharded, by the hash of its key. */
export function assignShard(context: Context, assignment: LaneAssignment, hash: Uint8Array): LaneAssignment {
  const shard = shardOfKey(hash, assignment.shardCount);
  if (shard === 0) return assignment;
  const { id, lane } = shardLane(context, assignment.lane, assignment.site, shard);
  return { ...assignment, lane: id, laneName: lane, shard };
}

/** Inserts sites; returns those that another transaction has inserted in between, with their lanes. */
function makeSites({ connection }: Context, list: readonly Value[][]): Map<string, LaneAssignment> {
  const { dialect } = connection;
  const others = new Map<string, LaneAssignment>();
  if (list.length === 0) return others;
  const sites = list.map(([site = null]): Value[] => [site]);
  dialect.lockName(connection, NEW_LANES);
  dialect.each(connection, MAKE_SITE, list);
  dialect.each(connection, COUNT_SITE, sites);
  if (!dialect.isShared) return others;
  for (const [index, row] of (dialect.eachFirst(connection, FIND_SITE, sites) as (SiteRow | undefined)[]).entries()) {
    const [site, lane] = list[index] as [string, number];
    if (row !== undefined && row.lane !== lane)
      others.set(site, { lane: row.lane, laneName: row.name, site, shardCount: row.shard_count, shard: 0 });
  }
  return others;
}

/** Inserts a site that no task has requested yet. Returns its lane. */
export function insertSite(context: Context, site: string, lane: string): number {
  const id = laneId(context, lane);
  makeSites(context, [[site, id, null]]);
  return id;
}

/** A stream is the tasks of one run in one lane with one concurrency key; pages and auxiliary tasks have separate streams. */
interface StreamWanted {
  lane: number;
  site: string;
  resolver: string | null;
  auxiliary?: boolean | undefined;
  shard?: number;
}

const OF_RUN = { run: "bigint", site: "text", resolver: "text", auxiliary: "bigint", shard: "bigint" } as const;
const STREAM_COLUMNS = { ...OF_RUN, lane: "bigint" } as const;

const FIND_STREAM: ForEach = {
  text: `SELECT new.row_index AS row_index, s.id, s.lane FROM streams s, new
    WHERE s.run = new.run AND s.site = new.site AND s.resolver = new.resolver AND s.auxiliary = new.auxiliary AND s.shard = new.shard`,
  columns: OF_RUN,
};

/** Without a site, a run may have streams in any number of lanes. */
const FIND_LANE_STREAM: ForEach = {
  text: `${FIND_STREAM.text} AND s.lane = new.lane`,
  columns: STREAM_COLUMNS,
};

const MAKE_STREAM: ForEach = {
  text: `INSERT INTO streams (run, site, resolver, auxiliary, shard, lane)
    SELECT new.run, new.site, new.resolver, new.auxiliary, new.shard, new.lane FROM new ORDER BY new.row_index`,
  columns: STREAM_COLUMNS,
};

const MOVE_STREAM: ForEach = {
  text: "UPDATE streams SET lane = new.lane FROM new WHERE streams.id = new.id",
  columns: { id: "bigint", lane: "bigint" },
};

/** Streams that exist, by `nameOfStream`. */
export type KnownStreams = ReadonlyMap<string, { id: number; lane: number }>;

const nameOfStream = (site: string, resolver: string | null, auxiliary: boolean, shard: number) =>
  `${site}\0${resolver ?? ""}\0${Number(auxiliary)}\0${shard}`;

/** Looks up streams of sites that are not sharded before it is known which of them are needed. */
export function lookUpStreams(
  { connection }: Context,
  run: number,
  list: readonly { site: string; resolver: string | null; auxiliary: boolean }[],
): () => KnownStreams {
  const found = connection.dialect.lookUp(
    connection,
    FIND_STREAM,
    list.map(({ site, resolver, auxiliary }) => [run, site, resolver ?? "", Number(auxiliary), 0]),
  );
  return () =>
    new Map(
      found().flatMap((row, index): [string, { id: number; lane: number }][] => {
        const { site, resolver, auxiliary } = list[index] as (typeof list)[number];
        return row === undefined
          ? []
          : [[nameOfStream(site, resolver, auxiliary, 0), row as unknown as { id: number; lane: number }]];
      }),
    );
}

/** Finds or creates streams of a run. A stream whose site has changed lanes since is moved along. */
export function streamsOf(
  { connection }: Context,
  run: number,
  list: readonly StreamWanted[],
  known: KnownStreams = new Map(),
): number[] {
  const { dialect } = connection;
  const valuesOf = ({ site, resolver, auxiliary = false, shard = 0, lane }: StreamWanted) =>
    [run, site, resolver ?? "", Number(auxiliary), shard, lane] satisfies Value[];
  const names = list.map((wanted) => valuesOf(wanted).join("\0"));
  const ids = new Map<string, number>();
  const moved: Value[][] = [];
  const find = (wanted: ReadonlyMap<string, Value[]>): Map<string, Value[]> => {
    const missing = new Map(wanted);
    for (const statement of [FIND_STREAM, FIND_LANE_STREAM]) {
      const part = [...wanted].filter(([, [, site]]) => (site === "") === (statement === FIND_LANE_STREAM));
      const asked = part.map(([, values]) => values.slice(0, Object.keys(statement.columns).length));
      const found = dialect.eachFirst(connection, statement, asked) as ({ id: number; lane: number } | undefined)[];
      for (const [index, [name, values]] of part.entries()) {
        const stream = found[index];
        if (stream === undefined) continue;
        ids.set(name, stream.id);
        missing.delete(name);
        if (stream.lane !== values[5]) moved.push([stream.id, values[5] as number]);
      }
    }
    return missing;
  };
  const unknown = new Map<string, Value[]>();
  for (const [index, wanted] of list.entries()) {
    const { site, resolver, auxiliary = false, shard = 0, lane } = wanted;
    const name = names[index] as string;
    const stream = site === "" ? undefined : known.get(nameOfStream(site, resolver, auxiliary, shard));
    if (stream === undefined) unknown.set(name, valuesOf(wanted));
    else {
      ids.set(name, stream.id);
      if (stream.lane !== lane) moved.push([stream.id, lane]);
    }
  }
  const missing = unknown.size === 0 ? unknown : find(unknown);
  if (missing.size > 0) {
    dialect.each(connection, MAKE_STREAM, [...missing.values()]);
    find(missing);
  }
  dialect.each(connection, MOVE_STREAM, moved);
  return names.map((name) => ids.get(name) as number);
}

export function streamId(context: Context, run: number, wanted: StreamWanted): number {
  return streamsOf(context, run, [wanted])[0] as number;
}
