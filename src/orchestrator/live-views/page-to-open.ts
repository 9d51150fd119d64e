/** What a live view opens: the page of a waiting run as the run would fetch it, or an address to sign in at. */
import { type FieldError, messageOf, OrbError } from "../../base/errors.ts";
import type { Credentials } from "../../domain/text/credentials.ts";
import { NO_PROXY, POOL, type ProxyOptions } from "../../domain/proxy/proxy-options.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { fetchedUrl, type PageSnapshot, plainRecipe, type Recipe } from "../../domain/run/recipe.ts";
import { fetchUrl, siteOf } from "../../domain/text/url.ts";
import { credentialsFor } from "../../pages/access.ts";
import { requestedUpstream } from "../../proxies/sealed-upstream.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { refuseForbidden } from "../jobs/input.ts";
import { readProxy } from "../jobs/proxy-input.ts";
import { requireRun } from "../runs/control.ts";
import { requireSessionFor } from "../session-for-page.ts";

export interface LiveViewInput {
  /** A run that waits for a person. */
  run_id?: string;
  /** Instead: a page to sign in at. */
  url?: string;
  /** Of the view of an address; a run has its own. */
  mobile?: boolean;
  proxy?: string | null;
  session_id?: string | null;
  /** Record what the person does as browser actions. */
  record?: boolean;
  /** Of the session that is stored, unless saving names others. */
  name?: string | null;
  check_url?: string | null;
}

export interface PageToOpen {
  runId: string | null;
  origin: string;
  url: string;
  credentials: Credentials | null;
  mobile: boolean;
  via: Upstream | null;
  records: boolean;
  /** For the first viewer. */
  notice: string | null;
  session: { name: string | null; checkUrl: string | null };
}

interface Deps extends JobDeps {
  /** A proxy of the pool, as a task of the run would get it; null: none is usable. */
  pickProxy: (wanted: { site: string; sessionKey: string }) => Promise<Upstream | null>;
}

export function pageToOpen(deps: Deps, input: LiveViewInput): Promise<PageToOpen> {
  return input.run_id === undefined ? pageOfAddress(deps, input) : pageOfRun(deps, input.run_id, input);
}

async function pageOfRun(deps: Deps, runId: string, input: LiveViewInput): Promise<PageToOpen> {
  const others = (["url", "mobile", "proxy", "session_id"] as const).filter((name) => input[name] !== undefined);
  if (others.length > 0)
    throw invalid(others.map((path) => ({ path, message: "cannot be combined with run_id: the run has its own" })));
  const run = await requireRun(deps, runId);
  if (run.kind !== "page")
    throw new OrbError("illegal_transition", "only a run of one page has a live view", {
      hint: "For a crawl, sign in at the site (url), and start it again with the session.",
    });
  if (run.status !== "waiting_for_human")
    throw new OrbError("illegal_transition", `the run is ${run.status} and does not wait for a person`);
  const snapshot = run.snapshot as PageSnapshot;
  const { recipe, url } = snapshot;
  const got = await credentialsOfRun(deps, recipe, url, run.facts.session_id);
  return {
    runId: run.id,
    origin: new URL(fetchedUrl(snapshot)).origin,
    url,
    ...got,
    mobile: recipe.browser?.mobile === true,
    via: await upstreamFor(deps, recipe, url, recipe.session_id ?? run.jobId ?? run.id),
    records: input.record === true,
    session: namesOf(input),
  };
}

const namesOf = ({ name = null, check_url: checkUrl = null }: LiveViewInput) => ({ name, checkUrl });

/** With a session that cannot be used a person can still sign in anew. */
async function credentialsOfRun(
  deps: JobDeps,
  recipe: Recipe,
  url: string,
  supplied: string | undefined,
): Promise<Pick<PageToOpen, "credentials" | "notice">> {
  try {
    return { credentials: await credentialsFor(deps, recipe, url, { supplied, elsewhere: "without" }), notice: null };
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    return { credentials: null, notice: `The page was opened without the run's credentials: ${messageOf(error)}` };
  }
}

async function pageOfAddress(deps: Deps, input: LiveViewInput): Promise<PageToOpen> {
  const problems: FieldError[] = [];
  if (input.url === undefined) throw invalid([{ path: "url", message: "is required, unless run_id is set" }]);
  const url = fetchUrl(input.url);
  if (url === null)
    throw invalid([{ path: "url", message: "expected the URL of a page, such as https://example.com" }]);
  refuseForbidden("url", url, deps.policy);
  const proxy = readProxy(input.proxy, deps, null, "proxy", problems);
  if (problems.length > 0) throw invalid(problems);
  const recipe = plainRecipe("browser", { session_id: input.session_id ?? null, ...NO_PROXY, ...proxy });
  const session = recipe.session_id === null ? null : await requireSessionFor(deps, recipe.session_id, { url, recipe });
  const used = { ...recipe, session_id: session?.id ?? null };
  return {
    runId: null,
    origin: new URL(url).origin,
    url,
    credentials: session === null ? null : await credentialsFor(deps, used, url),
    mobile: input.mobile === true,
    via: await upstreamFor(deps, used, url, session?.id ?? url),
    records: input.record === true,
    notice: null,
    session: namesOf(input),
  };
}

async function upstreamFor(
  deps: Deps,
  options: ProxyOptions,
  url: string,
  sessionKey: string,
): Promise<Upstream | null> {
  const { proxy } = options;
  if (proxy === null) return null;
  if (proxy !== POOL) return requestedUpstream(deps.seal, { ...options, proxy });
  const picked = await deps.pickProxy({ site: siteOf(url), sessionKey });
  if (picked !== null) return picked;
  throw new OrbError("live_view_unavailable", "no proxy of the pool is usable now", {
    hint: "See `orb proxies list`: a page with a proxy is never opened without one.",
  });
}
