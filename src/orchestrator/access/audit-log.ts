import type { Actor } from "../../domain/access/caller.ts";
import { isoOf } from "../../base/iso.ts";
import type { Change } from "../../domain/access/mask.ts";
import type { AuditFilter } from "../../store/ports/security/access-port.ts";
import type { OrchestratorDeps } from "../deps.ts";

export type AuditQuery = AuditFilter;

type Deps = Pick<OrchestratorDeps, "store">;

/** An entry of the audit log as the API returns it. */
interface AuditView {
  seq: number;
  at: string;
  actor: Actor;
  action: string;
  object: { kind: string; id: string | null };
  ip: string | null;
  request_id: string | null;
  changes: Change[];
}

export async function readAuditLog({ store }: Deps, filter: AuditFilter): Promise<AuditView[]> {
  return (await store.auditLog(filter)).map(({ at, requestId, ...entry }) => ({
    seq: entry.seq,
    at: isoOf(at),
    actor: entry.actor,
    action: entry.action,
    object: entry.object,
    ip: entry.ip,
    request_id: requestId,
    changes: entry.changes,
  }));
}

const PART = 500;

/** All matching entries as lines, newest first. */
export async function* exportAuditLog(
  deps: Deps,
  filter: AuditFilter,
  format: "jsonl" | "csv",
): AsyncGenerator<string> {
  if (format === "csv") yield `${COLUMNS.join(",")}\r\n`;
  let before = filter.before;
  for (;;) {
    const part = await readAuditLog(deps, { ...filter, limit: PART, ...(before === undefined ? {} : { before }) });
    for (const entry of part) yield format === "jsonl" ? `${JSON.stringify(entry)}\n` : `${csvLine(entry)}\r\n`;
    before = part.at(-1)?.seq;
    if (part.length < PART) return;
  }
}

const COLUMNS = [
  "seq",
  "at",
  "actor_kind",
  "actor_id",
  "actor_name",
  "action",
  "object_kind",
  "object_id",
  "ip",
  "request_id",
  "changes",
];

function csvLine({ seq, at, actor, action, object, ip, request_id: requestId, changes }: AuditView): string {
  const values = [seq, at, actor.kind, actor.id, actor.name, action, object.kind, object.id, ip, requestId];
  return [...values, JSON.stringify(changes)].map(csvCell).join(",");
}

/** Spreadsheets execute cells that begin like a formula. */
function csvCell(value: string | number | null): string {
  const text = String(value ?? "");
  const harmless = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
