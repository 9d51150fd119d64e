/** Sessions: credentials for one origin. Write-only in the API; only a worker unseals them. */
import { type FieldError, OrbError } from "../base/errors.ts";
import { isoOf } from "../base/iso.ts";
import { readCookieText } from "../domain/page/cookie-text.ts";
import type { Cookie, Credentials } from "../domain/text/credentials.ts";
import { planStrategy } from "../domain/page/strategy-plan.ts";
import { plainRecipe, type Recipe } from "../domain/run/recipe.ts";
import { fetchUrl, shownUrl, siteOf } from "../domain/text/url.ts";
import { SEALED_FOR_SESSION } from "../pages/access.ts";
import { getPage, type PageOrder } from "../pages/get-page.ts";
import type { JobRecord, IdempotencyKey, SessionHealth, SessionRecord } from "../store/records/job-records.ts";
import { requireSiteNotHeld } from "./sites/held-sites.ts";
import type { JobDeps } from "./jobs/deps.ts";
import { invalid } from "./invalid.ts";
import { readCredentials, refuseForbidden } from "./jobs/input.ts";
import type { PreviewDeps } from "./preview.ts";

export interface SessionInput {
  name?: string | null;
  /** `https://host` or `https://host:port`: the only origin that receives it. */
  origin: string;
  /** By name, as a list, or as text: JSON, a cookies.txt, or a Cookie header. */
  cookies?: Readonly<Record<string, string>> | readonly Cookie[] | string | null;
  headers?: Readonly<Record<string, string>> | null;
  basic?: { username: string; password: string } | null;
  /** Playwright's storage state. */
  storage_state?: {
    cookies?: readonly Cookie[];
    origins?: readonly { origin: string; localStorage?: readonly { name: string; value: string }[] }[];
  } | null;
  /** A page that shows whether the session is still valid. */
  check_url?: string | null;
}

/** The kinds of secrets that a session may hold. */
export const SECRETS = ["cookies", "headers", "basic", "local_storage"] as const;
type Secret = (typeof SECRETS)[number];

export interface SessionView {
  id: string;
  name: string | null;
  origin: string;
  /** The kinds of secrets in it. */
  holds: Secret[];
  check_url: string | null;
  health: { status: SessionHealth["status"]; message: string; checked_at: string } | null;
  created_at: string;
  /** Rounded to the minute; null: never. */
  last_used_at: string | null;
  /** Saved jobs that use it, newest first, at most `MOST_JOBS`. */
  jobs: { id: string; name: string | null; target_url: string | null }[];
}

const MOST_JOBS = 100;

async function viewsOf(store: JobDeps["store"], records: readonly SessionRecord[]): Promise<SessionView[]> {
  const [only] = records;
  const jobs =
    only === undefined ? [] : await store.jobs({ session: records.length === 1 ? only.id : "any", limit: 1000 });
  const bySession = Map.groupBy(jobs, ({ recipe }) => (recipe as Recipe).session_id ?? "");
  return records.map((record) => toView(record, bySession.get(record.id) ?? []));
}

async function viewOf(store: JobDeps["store"], record: SessionRecord): Promise<SessionView> {
  return (await viewsOf(store, [record]))[0]!;
}

function toView(record: SessionRecord, jobs: readonly JobRecord[]): SessionView {
  const { health, lastUsedAt } = record;
  return {
    id: record.id,
    name: record.name,
    origin: record.origin,
    holds: [...record.holds] as Secret[],
    check_url: record.checkUrl === null ? null : shownUrl(record.checkUrl),
    health:
      health === null ? null : { status: health.status, message: health.message, checked_at: isoOf(health.checkedAt) },
    created_at: isoOf(record.createdAt),
    last_used_at: lastUsedAt === null || lastUsedAt === undefined ? null : isoOf(lastUsedAt),
    jobs: jobs
      .slice(0, MOST_JOBS)
      .map(({ id, name, url }) => ({ id, name, target_url: url === "" ? null : shownUrl(url) })),
  };
}

export async function createSession(deps: JobDeps, input: SessionInput, once?: IdempotencyKey): Promise<SessionView> {
  const problems: FieldError[] = [];
  const origin = readOrigin(input.origin, problems);
  const name = readName(input.name ?? null, problems);
  const fromState = input.storage_state?.cookies ?? [];
  const cookies =
    typeof input.cookies === "string" ? cookiesIn(input.cookies, origin, problems, deps.clock.now()) : input.cookies;
  const direct = readCredentials({ headers: input.headers ?? null, cookies: cookies ?? null }, origin, null, problems);
  const state = readCredentials(
    { cookies: fromState.filter((cookie) => belongs(cookie, origin)) },
    origin,
    null,
    problems,
  );
  const localStorage = (input.storage_state?.origins ?? [])
    .filter((entry) => URL.parse(entry.origin)?.origin === origin)
    .flatMap((entry) => entry.localStorage ?? []);
  const credentials: Credentials = {
    origin,
    headers: direct?.headers ?? {},
    cookies: [...(state?.cookies ?? []), ...(direct?.cookies ?? [])],
    basic: input.basic ?? null,
    localStorage,
  };
  const holds = holdsOf(credentials);
  if (problems.length === 0 && holds.length === 0) problems.push({ path: "", message: nothing(input, origin) });
  const checkUrl = readCheckUrl(input.check_url ?? null, origin, problems);
  if (problems.length > 0) throw invalid(problems);
  refuseForbidden("origin", origin, deps.policy);
  const { created } = await deps.store.createSession(
    {
      name,
      origin,
      holds,
      checkUrl,
      sealed: deps.seal.close(credentials, SEALED_FOR_SESSION),
    },
    deps.clock.now(),
    once,
  );
  return toView(created, []);
}

/** A name is accepted wherever an id is. */
function readName(name: string | null, problems: FieldError[]): string | null {
  if (name === null) return null;
  if (name.trim() !== name || name === "")
    problems.push({ path: "name", message: "must not be empty, or begin or end with a space" });
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(name))
    problems.push({ path: "name", message: "must not have the form of an id" });
  return name;
}

/**
 * Users often paste a whole cookie jar: cookies of other sites and expired ones are dropped, unless nothing remains.
 */
function cookiesIn(text: string, origin: string, problems: FieldError[], now: number): Cookie[] {
  const read = readCookieText(text);
  const wrong = (message: string) => {
    problems.push({ path: "cookies", message });
    return [];
  };
  if ("error" in read) return wrong(read.error);
  const ofOrigin = read.cookies.filter((cookie) => belongs(cookie, origin));
  if (ofOrigin.length === 0) return wrong(`none of the ${read.cookies.length} cookies belongs to ${origin}`);
  const live = ofOrigin.filter(({ expires = -1 }) => expires <= 0 || expires * 1000 > now);
  return live.length === 0 ? wrong("all of the cookies have expired: sign in again and copy the new ones") : live;
}

function nothing(input: SessionInput, origin: string): string {
  return input.storage_state
    ? `the storage state contains nothing for ${origin}`
    : "expected at least one of cookies, headers, basic and storage_state";
}

function readOrigin(text: string, problems: FieldError[]): string {
  const url = URL.parse(text);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.pathname !== "/" ||
    url.search !== "" ||
    url.username !== ""
  ) {
    problems.push({ path: "origin", message: "expected the origin of a site, such as https://example.com" });
    return "";
  }
  return url.origin;
}

function readCheckUrl(text: string | null, origin: string, problems: FieldError[]): string | null {
  if (text === null) return null;
  const url = fetchUrl(text);
  if (url === null || new URL(url).origin !== origin)
    problems.push({ path: "check_url", message: `expected a URL of ${origin || "the origin"}` });
  return url;
}

/** Often a browser's whole cookie jar: cookies of other sites are dropped. */
function belongs(cookie: Cookie, origin: string): boolean {
  const host = URL.parse(origin)?.hostname ?? "";
  const domain = cookie.domain?.replace(/^\./, "").toLowerCase() ?? host;
  return host === domain || host.endsWith(`.${domain}`);
}

function holdsOf({ headers, cookies, basic, localStorage }: Credentials): Secret[] {
  const held: Record<Secret, boolean> = {
    cookies: cookies.length > 0,
    headers: Object.keys(headers).length > 0,
    basic: basic !== null,
    local_storage: localStorage.length > 0,
  };
  return SECRETS.filter((name) => held[name]);
}

export async function listSessions(
  { store }: JobDeps,
  filter: { origin?: string; after?: string; limit: number },
): Promise<SessionView[]> {
  return viewsOf(store, await store.sessions(filter));
}

export async function showSession({ store }: JobDeps, id: string): Promise<SessionView> {
  return viewOf(store, await requireSession(store, id));
}

async function requireSession(store: JobDeps["store"], id: string): Promise<SessionRecord> {
  const session = await store.session(id);
  if (session === null) throw new OrbError("not_found", `there is no session with the id or name ${id}`);
  return session;
}

export async function deleteSession({ store }: JobDeps, id: string): Promise<void> {
  await store.deleteSession((await requireSession(store, id)).id);
}

/** Longer than any page within its own limits takes; guarantees that the caller gets an answer. */
const CHECK_MS = 60_000;

/** Requests the check page with the session and stores whether the session is still valid. */
export async function checkSession(deps: PreviewDeps, id: string): Promise<SessionView> {
  const session = await requireSession(deps.store, id);
  const credentials = deps.seal.open(session.sealed, SEALED_FOR_SESSION) as Credentials;
  const url = session.checkUrl ?? `${session.origin}/`;
  await requireSiteNotHeld(deps, siteOf(url));
  const recipe = plainRecipe(credentials.localStorage.length > 0 ? "browser" : "http");
  const { failure, signIn } = await askWithin(deps, CHECK_MS, {
    recipe,
    plan: planStrategy(recipe, null, null, url, deps.clock.now()),
    url,
    credentialsFor: async () => credentials,
  });
  const health = healthOf(failure, signIn, deps.clock.now());
  return viewOf(deps.store, await deps.store.noteSessionHealth(session.id, health));
}

type Asked = { failure: { code: string; message: string } | null; signIn: string | null };

async function askWithin(deps: PreviewDeps, ms: number, order: Omit<PageOrder, "signal">): Promise<Asked> {
  const late = new AbortController();
  const timer = deps.clock.after(ms, () => late.abort());
  try {
    const { failure, judgement } = await getPage(await deps.pages(), { ...order, signal: late.signal });
    return { failure, signIn: judgement?.signIn ?? null };
  } catch (error) {
    if (!late.signal.aborted) throw error;
    const message = `the site did not show the page within ${ms / 1000} seconds`;
    return { failure: { code: "timeout", message }, signIn: null };
  } finally {
    timer.cancel();
  }
}

function healthOf(
  failure: { code: string; message: string } | null,
  signIn: string | null,
  checkedAt: number,
): SessionHealth {
  if (failure === null) {
    return signIn === null
      ? { status: "healthy", message: "the site accepts the session", checkedAt }
      : { status: "rejected", message: signIn, checkedAt };
  }
  return failure.code === "blocked"
    ? { status: "rejected", message: failure.message, checkedAt }
    : { status: "unreachable", message: failure.message, checkedAt };
}
