import type { DatabaseSync } from "node:sqlite";

/** Shards: the work of a large site in several lanes. */
export const shards = {
  version: 12,
  name: "shards",
  up(db: DatabaseSync): void {
    db.exec(`
      -- In how many lanes its work is, and in how many it is to be as soon as nobody works on it.
      ALTER TABLE sites ADD COLUMN split INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE sites ADD COLUMN split_due INTEGER NOT NULL DEFAULT 1;
      -- Of a shard's lane: the lane of its site, which of the shards it is, and how the site did as its owner saw it.
      ALTER TABLE lanes ADD COLUMN home INTEGER;
      ALTER TABLE lanes ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE lanes ADD COLUMN health TEXT;
      CREATE INDEX lanes_of_home ON lanes (home, shard) WHERE home IS NOT NULL;
      -- What a run has at a site is one stream for each shard. With fewer shards several of them are in one lane.
      ALTER TABLE streams ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
      DROP INDEX streams_by_run;
      CREATE UNIQUE INDEX streams_by_run ON streams (run, site, lane, resolver, aside, shard);
    `);
  },
};
