import type { Migration } from "../../../src/store/sqlite/migrate.ts";

export const STEPS = 5;
export const ROWS = 1500;

/**
 * Migrations that each make a table, fill it, and rewrite the one before. `between` is called in the middle of every one.
 */
export function fixtureMigrations(between: (version: number) => void = () => {}): Migration[] {
  return Array.from({ length: STEPS }, (_, index) => {
    const version = index + 1;
    return {
      version,
      name: `step ${version}`,
      up(db) {
        db.exec(`CREATE TABLE t${version} (n INTEGER PRIMARY KEY, text TEXT);
          WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${ROWS})
          INSERT INTO t${version} SELECT n, hex(randomblob(40)) FROM c;`);
        between(version);
        if (version > 1) db.exec(`UPDATE t${version - 1} SET text = 'rewritten by ${version}'`);
        db.exec(`CREATE INDEX t${version}_text ON t${version} (text)`);
      },
    };
  });
}
