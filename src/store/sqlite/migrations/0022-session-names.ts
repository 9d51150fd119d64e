import type { DatabaseSync } from "node:sqlite";

/** Unique session names, and when a session was last used. */
export const sessionNames = {
  version: 22,
  name: "session-names",
  up(db: DatabaseSync): void {
    db.exec(`
      ALTER TABLE sessions ADD COLUMN last_used_at INTEGER;
      UPDATE sessions SET name = name || ' ' || n
      WHERE EXISTS (SELECT 1 FROM sessions newer WHERE newer.name = sessions.name AND newer.n > sessions.n);
      UPDATE sessions SET name = id
      WHERE EXISTS (SELECT 1 FROM sessions newer WHERE newer.name = sessions.name AND newer.n > sessions.n);
      CREATE UNIQUE INDEX sessions_by_name ON sessions (name);
    `);
  },
};
