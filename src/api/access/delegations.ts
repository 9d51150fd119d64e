import { randomBytes } from "node:crypto";
import type { Principal } from "../../domain/access/principal.ts";
import type { ApiRequest } from "../instance.ts";
import { ApiProblem } from "../problems.ts";

export interface Delegation {
  principal: Principal;
  ip: string;
}

const HEADER = "orb-delegation";

/** Calls that this process makes for a caller, such as those of MCP tools: with the caller's rights. */
export class Delegations {
  readonly #open = new Map<string, Delegation>();

  /** The header of such a call, valid until `end`. */
  begin(delegation: Delegation): { headers: Record<string, string>; end(): void } {
    const secret = randomBytes(32).toString("base64url");
    this.#open.set(secret, delegation);
    return { headers: { [HEADER]: secret }, end: () => void this.#open.delete(secret) };
  }

  /** Null: not such a call. One that has ended is refused: it must not get the rights of the process instead. */
  principalOf({ headers }: ApiRequest): Delegation | null {
    const secret = headers[HEADER];
    if (secret === undefined) return null;
    const delegation = typeof secret === "string" ? this.#open.get(secret) : undefined;
    if (delegation === undefined) throw new ApiProblem("unauthorized", "the call that this one belongs to has ended");
    return delegation;
  }
}
