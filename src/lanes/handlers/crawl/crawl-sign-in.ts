import type { Handled } from "../../../domain/run/outcome.ts";

/** A page that was sent to a sign-in: its records say so, the run counts it, and nothing of it is kept for the next run. */
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
