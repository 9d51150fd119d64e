/** Validates a typed definition on the server, debounced. */
import { useEffect, useState } from "react";
import { call } from "../../api/client.ts";
import type { FieldProblem, Json } from "./logic/new-values.ts";

export interface CheckedDefinition {
  /** Null: empty, or no response yet. */
  valid: boolean | null;
  problems: readonly FieldProblem[];
  /** Parsed to JSON; null: unparsable. */
  source: Json | null;
}

const UNKNOWN: CheckedDefinition = { valid: null, problems: [], source: null };

export function useDefinition(text: string): CheckedDefinition {
  const [checked, setChecked] = useState(UNKNOWN);
  useEffect(() => {
    setChecked((old) => (old === UNKNOWN ? old : { ...old, source: null }));
    if (text.trim() === "") return setChecked(UNKNOWN);
    const gone = new AbortController();
    const timer = setTimeout(() => {
      call("validateWorkflow", undefined as never, {
        text: { type: "application/yaml", text },
        signal: gone.signal,
      }).then(
        ({ valid, errors, source = null }) => {
          // The definition has changed since.
          if (!gone.signal.aborted) setChecked({ valid, problems: errors, source });
        },
        (error: unknown) => {
          if (gone.signal.aborted) return;
          const message = error instanceof Error ? error.message : String(error);
          setChecked({ valid: false, problems: [{ path: "", message }], source: null });
        },
      );
    }, 350);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [text]);
  return checked;
}
