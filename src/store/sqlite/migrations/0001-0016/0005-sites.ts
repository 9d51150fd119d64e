import type { DatabaseSync } from "node:sqlite";
import { TASK_STATES } from "../../../../domain/run/states.ts";

const isOpen = "queued > 0 OR running > 0 OR retrying > 0";

/** Settings, health and dependencies of sites. */
export const sites = {
  version: 5,
  name: "sites",
  up(db: DatabaseSync): void {
    db.exec(`
      -- What a run has to do at one site stays together when the site changes its lane; '' is work without a site.
      ALTER TABLE streams ADD COLUMN site TEXT NOT NULL DEFAULT '';
      UPDATE streams SET site = substr(l.lane, 6) FROM lanes l WHERE l.id = streams.lane AND l.lane GLOB 'site:*';
      DROP INDEX streams_by_run;
      CREATE UNIQUE INDEX streams_by_run ON streams (run, site, lane, resolver, aside);
      -- Which of the runs with open work somewhere is the oldest is asked where sites wait for others.
      DROP INDEX streams_open;
      CREATE INDEX streams_open ON streams (lane, run) WHERE ${isOpen};

      -- Sites of a run at which something is to be done: few of many, and asked for by whoever watches it.
      DROP INDEX streams_queued_of_run;
      DROP INDEX streams_running_of_run;
      DROP INDEX streams_retrying_of_run;
      CREATE INDEX streams_queued_of_run ON streams (run, site, aside) WHERE queued > 0;
      CREATE INDEX streams_running_of_run ON streams (run, site, aside) WHERE running > 0;
      CREATE INDEX streams_retrying_of_run ON streams (run, site, aside) WHERE retrying > 0;

      ALTER TABLE sites ADD COLUMN max_memory_mb INTEGER;
      ALTER TABLE sites ADD COLUMN strategy TEXT;
      ALTER TABLE sites ADD COLUMN respect_robots INTEGER;
      ALTER TABLE sites ADD COLUMN shards INTEGER;
      ALTER TABLE sites ADD COLUMN site_group TEXT;
      ALTER TABLE sites ADD COLUMN first_seen_at INTEGER;
      -- How it has done of late, and what it waits for: JSON of its owner's.
      ALTER TABLE sites ADD COLUMN health TEXT;
      ALTER TABLE sites ADD COLUMN waiting TEXT;
      UPDATE sites SET first_seen_at = own.first FROM (
        SELECT s.site, min(r.created_at) AS first FROM streams s JOIN runs r ON r.n = s.run GROUP BY s.site
      ) AS own WHERE own.site = sites.site;
      CREATE INDEX sites_of_group ON sites (site_group, site) WHERE site_group IS NOT NULL;
      CREATE INDEX sites_paused ON sites (site) WHERE paused = 1;

      -- Pages of all runs at a site: ten thousand runs need not be summed up by whoever looks at it.
      CREATE TABLE site_counts (
        site TEXT PRIMARY KEY,
        ${TASK_STATES.map((name) => `${name} INTEGER NOT NULL DEFAULT 0 CHECK (${name} >= 0)`).join(",\n        ")}
      ) WITHOUT ROWID;
      INSERT INTO site_counts (site, ${TASK_STATES.join(", ")})
        SELECT p.site, ${TASK_STATES.map((name) => `coalesce(s.${name}, 0)`).join(", ")}
        FROM sites p LEFT JOIN (
          SELECT site, ${TASK_STATES.map((name) => `sum(${name}) AS ${name}`).join(", ")} FROM streams WHERE aside = 0 GROUP BY site
        ) AS s ON s.site = p.site;
      CREATE INDEX site_counts_open ON site_counts (site) WHERE ${isOpen};

      -- The work of a site waits until that of the sites which it needs is finished.
      CREATE TABLE site_deps (site TEXT NOT NULL, needs TEXT NOT NULL, PRIMARY KEY (site, needs)) WITHOUT ROWID;
      CREATE INDEX site_deps_by_needs ON site_deps (needs, site);
      -- Since when a run has had open work at a site without a break, and when it began: by the number of the newest event.
      -- What is open now goes by the age of its run; no run has a higher number than its events.
      ALTER TABLE streams ADD COLUMN opened_at INTEGER;
      ALTER TABLE runs ADD COLUMN began_at INTEGER;
      UPDATE streams SET opened_at = run WHERE site <> '' AND (${isOpen});
      UPDATE runs SET began_at = n WHERE finished_at IS NULL
        AND (started_at IS NOT NULL OR kind NOT IN ('crawl', 'workflow'));
      CREATE INDEX streams_opened ON streams (site, opened_at) WHERE opened_at IS NOT NULL;
    `);
  },
};
