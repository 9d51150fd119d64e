/** The crash sentinel: detects that the server lost commits it had reported. */
export const alive = {
  version: 3,
  name: "alive",
  up: () => `
      -- Postgres empties such a table when it starts again after a crash, and a replica that takes over has it empty: just
      -- then the last commits may be gone (src/store/postgres/crash-sentinel.ts).
      CREATE UNLOGGED TABLE alive (one BIGINT PRIMARY KEY CHECK (one = 1));
      INSERT INTO alive VALUES (1)
  `,
};
