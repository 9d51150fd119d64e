import { fetchedUrl, type PageSnapshot } from "../domain/recipe.ts";
import type { SessionRecord } from "../store/job-records.ts";
import type { OrchestratorDeps } from "./deps.ts";
import { invalid } from "./invalid.ts";

/** A session is sent to its own origin alone: for any other page it would fail every run. */
export async function requireSessionFor(
  { store }: Pick<OrchestratorDeps, "store">,
  id: string,
  page: PageSnapshot,
): Promise<SessionRecord> {
  const session = await store.session(id);
  if (session === null) throw invalid([{ path: "session_id", message: "there is no session with this id" }]);
  const { origin } = new URL(fetchedUrl(page));
  if (session.origin === origin) return session;
  const message = `the session belongs to ${session.origin} and is not sent to ${origin}, where the page is`;
  throw invalid([{ path: "session_id", message }]);
}
