/** Pages that jobs keep to test their rules on. */
import { type BodyForm, FIXTURES_SETTING, replacedFixtures } from "../../../domain/page/fixture.ts";
import type { FixtureRecord, FixtureStore } from "../../ports/fixture-port.ts";
import type { SettledTask } from "../../ports/port.ts";
import { type Context, rows } from "../kernel/context.ts";
import { recordOrphanedFiles } from "../runs/orphaned-files.ts";

interface FixtureRow {
  n: number;
  run: string;
  url: string;
  fetched_at: number;
  content_type: string | null;
  form: string;
  hash: Uint8Array;
  size: number;
  rules: string;
  filled: number;
  record_count: number;
  sealed: number;
}

function toRecord(row: FixtureRow): FixtureRecord {
  return {
    number: row.n,
    url: row.url,
    fetchedAt: row.fetched_at,
    contentType: row.content_type,
    form: row.form as BodyForm,
    hash: Buffer.from(row.hash).toString("hex"),
    size: row.size,
    rules: row.rules,
    filled: row.filled,
    runId: row.run,
    recordCount: row.record_count,
    isSealed: row.sealed === 1,
  };
}

/** Without the records, which may be large. */
const COLUMNS = "n, run, url, fetched_at, content_type, form, hash, size, rules, filled, record_count, sealed";

function readFixtures({ connection }: Context, job: number): FixtureRecord[] {
  const list = connection
    .sql(`SELECT ${COLUMNS} FROM fixtures WHERE job = ? ORDER BY fetched_at DESC, n DESC`)
    .all(job);
  return rows<FixtureRow>(list).map(toRecord);
}

const limitOf = (fixtures: number | null) => fixtures ?? FIXTURES_SETTING.default;

export function fixtureStore(context: Context): FixtureStore {
  const { connection } = context;
  return {
    async fixtures(jobId) {
      const job = connection.sql("SELECT n, fixtures, auto_repair FROM jobs WHERE id = ?").get(jobId) as
        | (JobRow & { auto_repair: number })
        | undefined;
      if (job === undefined) return null;
      const list = readFixtures(context, job.n);
      return { limit: limitOf(job.fixtures), list, autoRepair: job.auto_repair === 1 };
    },
    async fixtureRecords(number) {
      const row = connection.sql("SELECT records FROM fixtures WHERE n = ?").get(number);
      return (row as { records: string } | undefined)?.records ?? null;
    },
    deleteFixture: async (jobId, number) =>
      connection.write(() => {
        const found = connection
          .sql("SELECT f.job FROM fixtures f JOIN jobs j ON j.n = f.job WHERE f.n = ? AND j.id = ?")
          .get(number, jobId);
        if (found === undefined) return false;
        dropFixtures(context, [number]);
        return true;
      }),
    async fixtureFiles(after, limit) {
      const list = connection
        .sql("SELECT n, hash, size FROM fixtures WHERE n > ? ORDER BY n LIMIT ?")
        .all(after, limit);
      return rows<Pick<FixtureRow, "n" | "hash" | "size">>(list).map(({ n, hash, size }) => ({
        number: n,
        hash: Buffer.from(hash).toString("hex"),
        size,
      }));
    },
  };
}

interface JobRow {
  n: number;
  fixtures: number | null;
}

/**
 * Keeps the page of a completed task, unless the set has changed since the handler chose it. Then its file stays
 * unreferenced: it was recorded as orphaned before it was written.
 */
export function keepFixture(context: Context, { task, report }: SettledTask, now: number): void {
  const fixture = report?.fixture;
  if (fixture === undefined) return;
  const { connection } = context;
  const job = connection
    .sql("SELECT j.n, j.fixtures FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?")
    .get(task.runId) as JobRow | undefined;
  if (job === undefined || isDegraded(context, task.runId)) return;
  const candidate = { ...fixture, runId: task.runId };
  const replaced = replacedFixtures(readFixtures(context, job.n), candidate, limitOf(job.fixtures));
  if (replaced === null) return;
  dropFixtures(context, replaced);
  connection
    .sql(
      `INSERT INTO fixtures (job, run, url, fetched_at, content_type, form, hash, size, rules, filled, record_count, records, sealed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      job.n,
      task.runId,
      fixture.url,
      Math.round(now),
      fixture.contentType,
      fixture.form,
      Buffer.from(fixture.hash, "hex"),
      fixture.size,
      fixture.rules,
      fixture.filled,
      fixture.recordCount,
      fixture.records,
      fixture.isSealed ? 1 : 0,
    );
}

/** Whether the job's newest compared run is degraded: what its pages give now is no measure for its rules. */
function isDegraded({ connection }: Context, runId: string): boolean {
  const newest = connection
    .sql(
      `SELECT h.reasons, h.accepted_at FROM runs r JOIN run_health h ON h.job = r.job WHERE r.id = ?
       ORDER BY h.run DESC LIMIT 1`,
    )
    .get(runId) as { reasons: string | null; accepted_at: number | null } | undefined;
  return newest !== undefined && newest.reasons !== null && newest.accepted_at === null;
}

/** Keeps the newest `limit` fixtures of the job; null: as many as by default. */
export function trimFixtures(context: Context, job: number, limit: number | null): void {
  const excess = readFixtures(context, job).slice(limitOf(limit));
  dropFixtures(
    context,
    excess.map(({ number }) => number),
  );
}

/** Removes rows; the sweep of orphaned files removes their files, unless another row references them. */
function dropFixtures(context: Context, numbers: readonly number[]): void {
  const { connection } = context;
  if (numbers.length === 0) return;
  const which = "n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))";
  const list = JSON.stringify(numbers);
  const files = rows<{ hash: Uint8Array }>(connection.sql(`SELECT hash FROM fixtures WHERE ${which}`).all(list));
  recordOrphanedFiles(
    context,
    files.map(({ hash }) => Buffer.from(hash).toString("hex")),
  );
  // The files are deleted next.
  connection.dialect.outliveCrash(connection);
  connection.sql(`DELETE FROM fixtures WHERE ${which}`).run(list);
}
