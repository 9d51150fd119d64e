import { type Actor, asCaller, currentCaller } from "../../../domain/access/caller.ts";
import { changesBetween } from "../../../domain/access/mask.ts";
import type { AuditObject } from "../../ports/security/access-port.ts";
import type { Context } from "./context.ts";

/**
 * Records a change in the transaction that makes it. Changes of the program itself, such as the end of a run, are events
 * of the run and not recorded here. With `before` and `after`, nothing is recorded if they are the same.
 */
export function logChange(
  { connection, wallNow }: Context,
  action: string,
  object: AuditObject,
  { before, after }: { before?: unknown; after?: unknown } = {},
): void {
  const caller = currentCaller();
  if (caller === null) return;
  const changes = changesBetween(before, after);
  // A call that sets what is set already.
  if (before !== undefined && after !== undefined && changes.length === 0) return;
  const { actor, ip, requestId } = caller;
  connection
    .sql(
      `INSERT INTO audit_log (at, actor_kind, actor_id, actor_name, action, object_kind, object_id, ip, request_id, changes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      Math.floor(wallNow()),
      actor.kind,
      actor.id,
      actor.name,
      action,
      object.kind,
      object.id,
      ip,
      requestId,
      JSON.stringify(changes),
    );
}

/** For changes that the program makes for a person, such as those of a schedule; a caller stays who it is. */
export function actingAs<T>(actor: Actor, work: () => T): T {
  return currentCaller() === null ? asCaller({ actor, limits: null, ip: null, requestId: null }, work) : work();
}
