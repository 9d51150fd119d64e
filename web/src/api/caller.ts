/** Who uses the dashboard, as the server says. */
import { createContext, useContext } from "react";
import type { Answer } from "./client.ts";

export type Caller = Answer<"getLogin">["caller"];

/** Null: not known yet. */
export const CallerContext = createContext<Caller>(null);

/** Whether the caller may start and change things. What is not hidden is refused by the server. */
export function useMayStart(): boolean {
  return useContext(CallerContext)?.role !== "viewer";
}
