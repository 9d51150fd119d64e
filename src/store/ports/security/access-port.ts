import type { Actor, ActorKind, Limits } from "../../../domain/access/caller.ts";
import type { Change } from "../../../domain/access/mask.ts";
import type { Role } from "../../../domain/access/roles.ts";

export interface NewKey {
  name: string;
  /** SHA-256 of the secret, which has 256 bits: nobody can guess it from the hash. */
  hash: string;
  /** The first characters of the secret, to recognise it by. */
  prefix: string;
  role: Role;
  limits: Limits;
  requestsPerMinute: number | null;
  expiresAt: number | null;
}

export interface KeyRecord extends NewKey {
  id: string;
  createdAt: number;
  createdBy: Actor | null;
  /** To the minute; null: never. */
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** Limits that are not named stay as they are. */
export type KeyChange = Partial<Pick<NewKey, "name" | "role" | "requestsPerMinute" | "expiresAt">> & {
  limits?: Partial<Limits>;
};

export interface AuditObject {
  kind: string;
  id: string | null;
}

export interface AuditEntry {
  seq: number;
  at: number;
  actor: Actor;
  /** Such as `job.updated`. */
  action: string;
  object: AuditObject;
  ip: string | null;
  requestId: string | null;
  changes: Change[];
}

export interface AuditFilter {
  actorKind?: ActorKind;
  /** The id or the name of an actor. */
  actor?: string;
  /** A whole action, or its first part: `job` for `job.updated`. */
  action?: string;
  objectKind?: string;
  objectId?: string;
  since?: number;
  until?: number;
  /** Entries before this one: newest first. */
  before?: number;
  limit: number;
}

/** Keys of the API, and the log of who changed what. */
export interface AccessStore {
  createKey(key: NewKey, now: number): Promise<KeyRecord>;
  key(id: string): Promise<KeyRecord | null>;
  keyByHash(hash: string): Promise<KeyRecord | null>;
  /** Newest first. */
  keys(filter: { after?: string; limit: number; revoked?: boolean }): Promise<KeyRecord[]>;
  changeKey(id: string, change: KeyChange, now: number): Promise<KeyRecord>;
  /** For ever; repeating it changes nothing. */
  revokeKey(id: string, now: number): Promise<KeyRecord>;
  noteKeyUse(id: string, now: number): Promise<void>;
  auditLog(filter: AuditFilter): Promise<AuditEntry[]>;
  /** For what is no change in the store, such as a login. `after`: what to show of it. */
  recordAudit(action: string, object: AuditObject, after?: Record<string, unknown>): Promise<void>;
  /** Removes the oldest entries; returns how many. */
  trimAuditLog(before: number, limit: number): Promise<number>;
}
