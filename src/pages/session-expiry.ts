/** Detects expired sessions: a page fetched with a session redirects to a sign-in. */
import type { Clock } from "../base/clock.ts";
import { isOrbError } from "../base/errors.ts";
import { SIGN_IN_RULE } from "../domain/page/sign-in.ts";
import type { SessionRecord } from "../store/records/job-records.ts";
import type { Store } from "../store/ports/port.ts";
import type { PageGot } from "./get-page.ts";

/** Marks the session as rejected and names it in the page's warning. `askedUrl`: before any redirect. */
export async function noticeExpiry(
  deps: { store: Pick<Store, "session" | "noteSessionHealth">; clock: Clock },
  got: PageGot,
  sessionId: string | null | undefined,
  askedUrl: string,
): Promise<PageGot> {
  const seen = got.judgement?.signIn ?? null;
  if (got.judgement === null || seen === null || sessionId === null || sessionId === undefined) return got;
  const session = await deps.store.session(sessionId);
  // The session was not sent to other origins.
  if (session === null || session.origin !== URL.parse(askedUrl)?.origin) return got;
  await noteRejected(deps, session, seen);
  const signIn = `the session ${session.name ?? session.id} looks expired: ${seen}`;
  const { warnings, failure } = got.judgement;
  const explained = warnings.map((warning) =>
    warning.rule === SIGN_IN_RULE ? { ...warning, message: signIn } : warning,
  );
  const what = failure?.reason === "login_page" ? { ...failure, message: signIn } : failure;
  return {
    ...got,
    failure: got.failure?.reason === "login_page" ? what : got.failure,
    judgement: { ...got.judgement, signIn, warnings: explained, failure: what },
  };
}

async function noteRejected(
  { store, clock }: { store: Pick<Store, "noteSessionHealth">; clock: Clock },
  session: SessionRecord,
  message: string,
): Promise<void> {
  if (session.health?.status === "rejected") return;
  try {
    await store.noteSessionHealth(session.id, { status: "rejected", message, checkedAt: clock.now() });
  } catch (error) {
    // The session was deleted meanwhile.
    if (!isOrbError(error, "not_found")) throw error;
  }
}
