import { Link } from "wouter";
import { useCall } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { signInHelp } from "../../logic/sessions.ts";

/** Links a run that met a sign-in page to a session that helps. */
export function SignInHelp({ run }: { run: Run }) {
  const sessions = useCall("listSessions", { query: { limit: 200 } });
  const asked = useCall("getRunRecipe", { params: { run_id: run.id } }, { staleTime: 60_000 });
  if (sessions.isPending || asked.isPending) return null;
  const { session_id: ofPage, crawl } = (asked.data?.recipe ?? {}) as Recipe;
  const { href, words } = signInHelp(run, sessions.data ?? [], crawl?.session_id ?? ofPage ?? null);
  return (
    <Link className="link" href={href}>
      {words}
    </Link>
  );
}

interface Recipe {
  session_id?: string | null;
  crawl?: { session_id?: string | null } | null;
}
