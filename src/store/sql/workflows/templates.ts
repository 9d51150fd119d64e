import { logChange } from "../kernel/audit-entry.ts";
import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { TemplateRecord } from "../../ports/workflow-port.ts";
import { refuseStale } from "../../versions.ts";
import { type Context, rows } from "../kernel/context.ts";

interface TemplateRow {
  name: string;
  version: number;
  definition: string;
  created_at: number;
}

function toRecord(row: TemplateRow): TemplateRecord {
  return {
    name: row.name,
    version: row.version,
    definition: JSON.parse(row.definition) as JsonValue,
    createdAt: row.created_at,
  };
}

export function putTemplate(
  context: Context,
  name: string,
  definition: JsonValue,
  first: number,
  now: number,
  version?: number,
): TemplateRecord {
  const { connection } = context;
  return connection.write(
    () => {
      lockTemplate(context, name);
      const current = readTemplate(context, name);
      const newest = String(current?.version ?? first - 1);
      refuseStale(`the template ${name}`, newest, version === undefined ? undefined : String(version));
      if (current !== null && isDeepStrictEqual(current.definition, definition)) return current;
      const saved = toRecord(
        connection
          .sql(
            `INSERT INTO templates (name, version, definition, created_at)
             SELECT ?1, max(?2, (SELECT coalesce(max(version), 0) + 1 FROM templates WHERE name = ?1)), ?3, ?4 RETURNING *`,
          )
          .get(name, first, JSON.stringify(definition), now) as unknown as TemplateRow,
      );
      const versions = { before: { version: current?.version ?? null }, after: { version: saved.version } };
      logChange(context, "template.saved", { kind: "template", id: name }, versions);
      return saved;
    },
    { durable: true },
  );
}

export function readTemplate({ connection }: Context, name: string, version?: number): TemplateRecord | null {
  const row = connection
    .sql(
      "SELECT * FROM templates WHERE name = ?1 AND version = coalesce(?2, (SELECT max(version) FROM templates WHERE name = ?1))",
    )
    .get(name, version ?? null) as TemplateRow | undefined;
  return row === undefined ? null : toRecord(row);
}

export function readTemplates({ connection }: Context): TemplateRecord[] {
  const list = connection
    .sql(
      "SELECT * FROM templates WHERE (name, version) IN (SELECT name, max(version) FROM templates GROUP BY name) ORDER BY name",
    )
    .all();
  return rows<TemplateRow>(list).map(toRecord);
}

export function readTemplateVersions({ connection }: Context, name: string): TemplateRecord[] {
  const list = connection.sql("SELECT * FROM templates WHERE name = ? ORDER BY version DESC").all(name);
  return rows<TemplateRow>(list).map(toRecord);
}

export function deleteTemplate(context: Context, name: string): number {
  const { connection } = context;
  return connection.write(
    () => {
      lockTemplate(context, name);
      const deleted = Number(connection.sql("DELETE FROM templates WHERE name = ?").run(name).changes);
      if (deleted > 0) logChange(context, "template.deleted", { kind: "template", id: name });
      return deleted;
    },
    { durable: true },
  );
}

/** Versions of a template are numbered by one writer at a time. */
function lockTemplate({ connection }: Context, name: string): void {
  connection.dialect.lockName(connection, `template:${name}`);
}
