import type { DatabaseSync } from "node:sqlite";

/** What a page says is noted with its task, and no more in a row of its own. */
export const contents = {
  version: 11,
  name: "contents",
  up(db: DatabaseSync): void {
    db.exec(`
      -- Of the first page of its run that says something: the run's number, and 16 bytes of a hash of what it says.
      ALTER TABLE tasks ADD COLUMN content BLOB;
      UPDATE tasks SET content = CAST(unhex(printf('%016x', c.run)) || c.hash AS BLOB)
        FROM (SELECT run, min(hash) AS hash, task FROM contents GROUP BY task) AS c WHERE c.task = tasks.id;
      CREATE UNIQUE INDEX tasks_by_content ON tasks (content) WHERE content IS NOT NULL;
      DROP TABLE contents;
    `);
  },
};
