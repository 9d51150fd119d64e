/** Moves an installation from SQLite to Postgres: copies a database that no process uses into an empty schema. */
import type { Clock } from "../../base/clock.ts";
import { isOrbError, OrbError } from "../../base/errors.ts";
import { takeSchema } from "../postgres/address.ts";
import { openPostgresStore } from "../postgres/store.ts";
import type { Value } from "../sql/kernel/connection.ts";
import { CopySource } from "./source.ts";
import { CopyTarget, type TargetColumn } from "./target.ts";

export interface CopyProgress {
  table: string;
  /** `rows` of `of` in this table, `copied` of `total` in all tables. */
  rows: number;
  of: number;
  copied: number;
  total: number;
}

export interface CopyReport {
  instance: string;
  schema: string;
  tables: { table: string; rows: number }[];
  rows: number;
  /** Texts in which characters that Postgres cannot store became U+FFFD. */
  cleanedTexts: number;
  /** Audit findings in the copy that the original has, too. */
  findings: { check: string; what: string }[];
}

/** Leases of processes that no longer run. */
export const LEFT_OUT: readonly string[] = ["owners", "budget_permits"];

interface Plan {
  table: string;
  columns: TargetColumn[];
  rows: number;
}

export async function copyToPostgres(options: {
  path: string;
  url: string;
  clock: Clock;
  onProgress: (progress: CopyProgress) => void;
}): Promise<CopyReport> {
  using source = new CopySource(options.path, options.clock);
  try {
    return await copyFrom(source, options);
  } catch (error) {
    throw withTargetOption(error);
  }
}

async function copyFrom(source: CopySource, options: Parameters<typeof copyToPostgres>[0]): Promise<CopyReport> {
  const { url, schema } = takeSchema(options.url);
  await using target = await CopyTarget.open(url, schema);
  await target.begin(source.instance, [...source.tables().keys()]);
  const tables = await target.tables();
  const plans = plan(source, tables);
  await copyRows(source, target, plans, options.onProgress);
  source.refuseChanged();
  await verifyCounts(target, plans);
  for (const [table, columns] of tables)
    for (const { name, numbered } of columns)
      if (numbered) await target.continueBehind(table, name, source.lastNumber(table, name));
  await target.analyze(tables.keys());
  const findings = await auditCopy(source, options);
  await target.finish();
  return {
    instance: source.instance,
    schema,
    tables: plans.map(({ table, rows }) => ({ table, rows })),
    rows: plans.reduce((sum, { rows }) => sum + rows, 0),
    cleanedTexts: target.cleaned,
    findings,
  };
}

/** Store errors name the database by APP_DATABASE_URL, which is the original here; the target is `--to`. */
function withTargetOption(error: unknown): unknown {
  if (!isOrbError(error)) return error;
  const renamed = (text: string) => text.replaceAll("APP_DATABASE_URL", "--to");
  return new OrbError(error.code, renamed(error.message), {
    cause: error,
    fields: error.fields.map(({ path, message }) => ({ path: renamed(path), message: renamed(message) })),
    ...(error.hint === undefined ? {} : { hint: renamed(error.hint) }),
  });
}

/** Both sides must have the same tables and columns, in any order. */
function plan(source: CopySource, tables: Map<string, TargetColumn[]>): Plan[] {
  const sourceTables = source.tables();
  const sourceColumns = [...sourceTables].flatMap(([table, columns]) => columns.map((name) => `${table}.${name}`));
  const targetColumns = [...tables].flatMap(([table, columns]) => columns.map(({ name }) => `${table}.${name}`));
  const differ = [
    ...sourceColumns.filter((column) => !targetColumns.includes(column)),
    ...targetColumns.filter((column) => !sourceColumns.includes(column)),
  ];
  if (differ.length > 0) throw new Error(`the two schemas differ in ${differ.join(", ")}`);
  return [...tables]
    .filter(([table]) => !LEFT_OUT.includes(table))
    .map(([table, columns]) => ({ table, columns, rows: source.count(table) }));
}

async function copyRows(
  source: CopySource,
  target: CopyTarget,
  plans: readonly Plan[],
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const overrides = freeLeases(await target.now());
  const total = plans.reduce((sum, { rows }) => sum + rows, 0);
  let copied = 0;
  for (const { table, columns, rows: of } of plans) {
    const change = overrides[table] ?? {};
    const names = columns.map(({ name }) => name);
    const changed = names.flatMap((name, index) => (name in change ? [[index, change[name] ?? null] as const] : []));
    let rows = 0;
    // Fails early: a copy may take hours, and one of a changed original is useless.
    source.refuseChanged();
    for (const chunk of source.chunks(table, names)) {
      for (const row of chunk) for (const [index, value] of changed) row[index] = value;
      if (table === "meta") for (const row of chunk) withoutFraction(row);
      await target.insert(table, columns, chunk);
      rows += chunk.length;
      copied += chunk.length;
      onProgress({ table, rows, of, copied, total });
    }
  }
}

/**
 * Earlier versions wrote numbers into text columns with a fraction ("39.0"), which Postgres does not parse as an
 * integer.
 */
function withoutFraction(row: Value[]): void {
  for (const [index, value] of row.entries())
    if (typeof value === "string" && /^\d+\.0$/.test(value)) row[index] = value.slice(0, -2);
}

/** SQLite measures leases by the machine's clock, Postgres by its sourceColumns: the copy starts with all leases free. */
function freeLeases(now: number): Record<string, Record<string, Value>> {
  return {
    engine: { holder: null, lease_until: 0 },
    lanes: { owner: null, lease_until: now, rest_until: null },
  };
}

async function verifyCounts(target: CopyTarget, plans: readonly Plan[]): Promise<void> {
  for (const { table, rows } of plans) {
    const actual = await target.count(table);
    if (actual !== rows) throw copyMismatch(`${table} has ${actual} rows, the original ${rows}`);
  }
}

/** Findings that the original has, too, are reported and do not fail the copy. */
async function auditCopy(
  source: CopySource,
  { url, clock }: { url: string; clock: Clock },
): Promise<CopyReport["findings"]> {
  await using store = await openPostgresStore({ url, clock, unfinished: true });
  const { findings } = await store.audit();
  if (findings.length === 0) return [];
  const before = new Set(source.audit().findings.map(({ check }) => check));
  const added = findings.filter(({ check }) => !before.has(check));
  if (added.length > 0) throw copyMismatch(added.map(({ check, what }) => `${check}: ${what}`).join("; "));
  return findings;
}

function copyMismatch(what: string): OrbError {
  return new OrbError("database_unfinished", `the copy differs from the original: ${what}`, {
    hint: "No process can use this copy. Run the command again; if it happens again, report this message.",
  });
}
