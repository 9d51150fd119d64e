import type { Handled } from "../../../domain/run/outcome.ts";

/** A page redirected to a sign-in: its records carry a warning, the run counts it, and no copy is stored. */
export function withSignIn(handled: Handled, signIn: string | null): Handled {
  if (signIn === null) return handled;
  const { copy, ...rest } = handled.report ?? {};
  const report = { ...rest, ...(copy === undefined ? {} : { copy: null }), signIn };
  if (handled.kind !== "completed") return { ...handled, report };
  const detail = typeof handled.detail === "object" && handled.detail !== null ? handled.detail : {};
  return {
    ...handled,
    results: handled.results.map((record) => ({ ...(record as object), warning: signIn })),
    detail: { ...detail, warning: signIn },
    report,
  };
}
