/** Who makes a request. Every way to sign in resolves to one. */
import { type ActorKind, type Limits } from "./caller.ts";
import type { Role } from "./roles.ts";

export interface Principal {
  kind: Extract<ActorKind, "key" | "person" | "token" | "local">;
  /** Of its key; of a person, issuer and subject; null: it has none. */
  id: string | null;
  name: string;
  role: Role;
  /** Null: sees everything. */
  limits: Limits | null;
  requestsPerMinute: number | null;
}

const everything = { id: null, role: "admin", limits: null, requestsPerMinute: null } as const;

/** A caller with APP_API_TOKEN. */
export const TOKEN_PRINCIPAL: Principal = { ...everything, kind: "token", name: "APP_API_TOKEN" };
/** A caller on this machine, where no token is set. */
export const LOCAL_PRINCIPAL: Principal = { ...everything, kind: "local", name: "local" };
