/** The rights of the caller, for buttons that name the call they make. */
import { createContext, useContext } from "react";
import type { OperationName } from "../api/client.ts";
import { refusalOf, type Rights } from "../logic/rights.ts";

export const RightsContext = createContext<Rights | null>(null);

/** Why the caller may not make this call; null: it may. */
export function useRefusal(needs: OperationName | undefined): string | null {
  const rights = useContext(RightsContext);
  return needs === undefined ? null : refusalOf(rights, needs);
}

/** As `useRefusal`, for several calls. */
export function useRefusals(): (needs: OperationName | undefined) => string | null {
  const rights = useContext(RightsContext);
  return (needs) => (needs === undefined ? null : refusalOf(rights, needs));
}
