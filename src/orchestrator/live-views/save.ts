/** What a person did in a live view becomes a session, with which the waiting run goes on. */
import { OrbError } from "../../base/errors.ts";
import type { Cookie, Credentials } from "../../domain/text/credentials.ts";
import type { PageSnapshot } from "../../domain/run/recipe.ts";
import type { BrowserAction } from "../../domain/page/page-options.ts";
import { SEALED_FOR_SESSION } from "../../pages/access.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { requireRun, resolveRun } from "../runs/control.ts";
import { createSession, type SessionView } from "../sessions.ts";
import type { LiveView } from "./live-view.ts";
import type { LiveViews } from "./live-views.ts";

export interface SaveInput {
  /** Absent: as named when the view was opened. */
  name?: string | null;
  check_url?: string | null;
}

export interface Saved {
  session: SessionView;
  /** The run that goes on with it; null: the view is of an address. */
  run: RunRecord | null;
  actions: BrowserAction[];
  notes: string[];
}

/** The session is stored first: if the run was answered otherwise meanwhile, it is there for the next one. */
export async function saveLiveView(
  deps: JobDeps & { liveViews: LiveViews },
  view: LiveView,
  input: SaveInput,
): Promise<Saved> {
  const { page } = view;
  if (page === null || view.isSaving)
    throw new OrbError("illegal_transition", "the live view is being saved or closed already");
  view.isSaving = true;
  try {
    // A page with an open dialog stands still.
    if (page.dialog !== null) page.answer(page.dialog.id, false, "");
    const state = await page.storageState();
    const before = await sessionBefore(deps, view);
    const session = await createSession(deps, {
      origin: view.origin,
      name: input.name === undefined ? view.session.name : input.name,
      check_url: input.check_url === undefined ? view.session.checkUrl : input.check_url,
      storage_state: { cookies: state.cookies.map(toCookie), origins: state.origins },
      headers: before?.headers ?? null,
      basic: before?.basic ?? null,
    });
    deps.liveViews.audit("live_view.saved", view);
    const run = view.runId === null ? null : await resolveRun(deps, view.runId, { session_id: session.id });
    const { actions, notes } = view.recorded;
    // The caller gets its answer at once.
    void view.close("saved");
    return { session, run, actions: [...actions], notes: [...notes] };
  } finally {
    view.isSaving = false;
  }
}

/** Without what only this browser understands. */
function toCookie({ name, value, domain, path, expires, httpOnly, secure, sameSite }: Cookie): Cookie {
  return { name, value, domain, path, expires, httpOnly, secure, sameSite } as Cookie;
}

/** The new session takes the place of the run's: what a browser does not store comes from that one. */
async function sessionBefore({ store, seal }: JobDeps, { runId, origin }: LiveView): Promise<Credentials | null> {
  if (runId === null) return null;
  const { snapshot, facts } = await requireRun({ store }, runId);
  const id = facts.session_id ?? (snapshot as PageSnapshot).recipe.session_id;
  const session = id === null || id === undefined ? null : await store.session(id);
  if (session === null || session.origin !== origin) return null;
  try {
    return seal.open(session.sealed, SEALED_FOR_SESSION) as Credentials;
  } catch {
    // Sealed with another key: it was not used for this page, either.
    return null;
  }
}
