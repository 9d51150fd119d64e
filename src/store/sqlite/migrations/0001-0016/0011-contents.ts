import type { DatabaseSync } from "node:sqlite";

/** The content key of a page moves from its own table to the task. */
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
