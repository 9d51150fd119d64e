import { ACTOR_KINDS } from "../../../domain/access/caller.ts";
import { type AuditQuery, exportAuditLog, readAuditLog } from "../../../orchestrator/access/audit-log.ts";
import { sendBytes } from "../../access/held-answers.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { badCursor, decodeCursor, LINK_HEADER, pageQuery, refuseBesideFormat, sendPage } from "../../paging.ts";
import { nullable, oneOf, strict, Time } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { ActorSchema } from "./keys.ts";

const Entry = strict({
  seq: Type.Integer(),
  at: Time,
  actor: ActorSchema,
  action: Type.String({ description: "such as job.updated" }),
  object: strict({ kind: Type.String(), id: nullable(Type.String()) }),
  ip: nullable(Type.String({ description: "the address of the caller, or of the proxy before this server" })),
  request_id: nullable(Type.String()),
  changes: Type.Array(strict({ path: Type.String(), before: Type.Unknown(), after: Type.Unknown() }), {
    description: "the fields that differ, with secrets masked",
  }),
});

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }));

const filters = {
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: "name or id of who did it" })),
  actor_kind: Type.Optional(oneOf(ACTOR_KINDS)),
  action: text("such as job.updated, or job for all of jobs"),
  object_kind: text("such as job"),
  object_id: text("id of the object"),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
};

interface Filters {
  actor?: string;
  actor_kind?: AuditQuery["actorKind"];
  action?: string;
  object_kind?: string;
  object_id?: string;
  since?: string;
  until?: string;
}

function filterOf(query: Filters): Omit<AuditQuery, "limit"> {
  const { actor, actor_kind: actorKind, action, object_kind: objectKind, object_id: objectId, since, until } = query;
  const given = {
    actor,
    actorKind,
    action,
    objectKind,
    objectId,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export function auditLogRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/audit-log",
    {
      config: { role: "admin" },
      schema: {
        summary: "Who changed what, from where and when, newest first; with format, all of it as a file",
        operationId: "listAuditLog",
        tags: ["access"],
        querystring: pageQuery({ ...filters, format: Type.Optional(oneOf(["jsonl", "csv"])) }),
        response: { 200: { ...Type.Array(Entry), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, format, cursor } = request.query;
      const filter = filterOf(request.query);
      if (format !== undefined) {
        refuseBesideFormat(request, "limit", "cursor");
        reply
          .type(format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson")
          .header("content-disposition", `attachment; filename="audit-log.${format}"`);
        return sendBytes(request, reply, deps, exportAuditLog(deps, { ...filter, limit }, format)) as never;
      }
      const position = decodeCursor(cursor);
      if (position !== undefined && !/^\d{1,15}$/.test(position)) throw badCursor();
      const before = position === undefined ? {} : { before: Number(position) };
      const rows = await readAuditLog(deps, { ...filter, ...before, limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: ({ seq }) => String(seq) });
    },
  );
}
