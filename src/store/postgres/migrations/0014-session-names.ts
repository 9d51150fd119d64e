/** Unique session names, and when a session was last used. */
export const sessionNames = {
  version: 14,
  name: "session-names",
  olderMayRun: true,
  up: () => `
    ALTER TABLE sessions ADD COLUMN last_used_at BIGINT;
    UPDATE sessions SET name = name || ' ' || n
    WHERE EXISTS (SELECT 1 FROM sessions newer WHERE newer.name = sessions.name AND newer.n > sessions.n);
    UPDATE sessions SET name = id
    WHERE EXISTS (SELECT 1 FROM sessions newer WHERE newer.name = sessions.name AND newer.n > sessions.n);
    CREATE UNIQUE INDEX sessions_by_name ON sessions (name);
  `,
};
