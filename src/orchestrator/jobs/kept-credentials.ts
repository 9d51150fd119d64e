/** Carries a job's sealed credentials through a change. */
import { isDeepStrictEqual } from "node:util";
import { isOrbError, OrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import { type CrawlRecipe, wholeCrawlOptions } from "../../domain/crawl/crawl-options.ts";
import { POOL } from "../../domain/proxy/proxy-options.ts";
import type { Cookie, Credentials } from "../../domain/text/credentials.ts";
import { fetchedUrl, type Recipe } from "../../domain/run/recipe.ts";
import { SEALED_FOR_JOB } from "../../pages/access.ts";
import type { JobRecord, NewJob } from "../../store/records/job-records.ts";
import { invalid } from "../invalid.ts";
import type { JobInput } from "./input.ts";

type Sealed = Pick<Recipe, "sealed" | "header_names" | "cookie_names">;

/**
 * Credentials that the change does not touch stay sealed, so a process with another key can still rename a job.
 * Otherwise they are unsealed, merged and sealed again.
 */
export function keptCredentials(
  seal: Seal,
  job: JobRecord,
  change: JobInput,
): { unopened: Sealed } | { opened: JobInput } {
  const { sealed, header_names, cookie_names } = job.recipe as Recipe;
  if (sealed === null || isReplaced(change)) return { opened: {} };
  const fields = touchedBy(job, change);
  if (fields.length === 0) return { unopened: { sealed, header_names, cookie_names } };
  const kept = open(seal, sealed, fields);
  return { opened: changesOrigin(kept, job, change) ? {} : asInput(kept, job) };
}

/**
 * The proxy of an `http:` page reads what is sent through it: who changes it sends the credentials again. A crawl has headers
 * alone.
 */
export function refuseKeptAtProxy(seal: Seal, before: JobRecord, after: NewJob, change: JobInput): void {
  const [old, now] = [sentBy(before), sentBy(after)];
  const isOther = now.proxy !== null && now.proxy !== POOL && now.proxy !== old.proxy;
  const isOpen = now.urls.some((url) => URL.parse(url)?.protocol === "http:");
  if (!isOther || !isOpen || old.sealed === null || now.sealed === null) return;
  const headers = change.headers ?? change.crawl?.headers;
  const isKept =
    now.sealed === old.sealed ||
    (old.headers.length > 0 && headers === undefined) ||
    (old.cookies.length > 0 && change.cookies === undefined) ||
    (change.target_url === undefined && open(seal, old.sealed, ["proxy"]).basic !== null);
  if (!isKept) return;
  const message =
    "this proxy would read the stored headers, cookies and password of the job at an http:// address: send them again with it";
  throw invalid([{ path: change.crawl?.proxy === undefined ? "proxy" : "crawl.proxy", message }]);
}

function sentBy({ kind, url, recipe }: NewJob) {
  const page = recipe as Recipe;
  const cookies = page.cookie_names;
  if (kind !== "crawl")
    return {
      urls: [fetchedUrl({ url, recipe: page })],
      sealed: page.sealed,
      proxy: page.proxy,
      headers: page.header_names,
      cookies,
    };
  const {
    urls,
    sealed = null,
    proxy = null,
    header_names: headers = [],
  } = wholeCrawlOptions((recipe as CrawlRecipe).crawl);
  return { urls, sealed, proxy, headers, cookies: [] };
}

/** The request replaces all credentials. */
function isReplaced({ headers, cookies, target_url: target }: JobInput): boolean {
  return headers !== undefined && cookies !== undefined && target !== undefined;
}

function touchedBy(job: JobRecord, change: JobInput): string[] {
  const { strategy, replay } = job.recipe as Recipe;
  const target = change.target_url === undefined ? null : URL.parse(change.target_url);
  const touches: Record<string, boolean> = {
    headers: change.headers !== undefined,
    cookies: change.cookies !== undefined,
    target_url:
      change.target_url !== undefined &&
      (target?.origin !== new URL(job.url).origin || target.username !== "" || target.password !== ""),
    strategy: change.strategy !== undefined && change.strategy !== strategy,
    replay: change.replay !== undefined && !isDeepStrictEqual(change.replay, replay),
  };
  return Object.keys(touches).filter((field) => touches[field]);
}

function open(seal: Seal, sealed: string, touched: readonly string[]): Credentials {
  try {
    return seal.open(Buffer.from(sealed, "base64"), SEALED_FOR_JOB) as Credentials;
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    const message =
      "the stored credentials of this job cannot be decrypted with the current key, so this change is rejected";
    throw new OrbError("secret_key_wrong", `${touched.join(", ")}: ${message}`, {
      cause: error,
      fields: touched.map((path) => ({ path, message })),
      hint: "Set APP_SECRET_KEY to the original key, or send headers, cookies and target_url together to replace them all.",
    });
  }
}

function changesOrigin(kept: Credentials, job: JobRecord, change: JobInput): boolean {
  const recipe = job.recipe as Recipe;
  const strategy = change.strategy ?? recipe.strategy;
  const replay = (change.replay ?? recipe.replay) as { request?: { url?: string } } | null;
  const url = strategy === "api_replay" ? replay?.request?.url : (change.target_url ?? job.url);
  return URL.parse(url ?? "")?.origin !== kept.origin;
}

function asInput(kept: Credentials, job: JobRecord): JobInput {
  const target = new URL(job.url);
  if (kept.basic !== null) {
    target.username = encodeURIComponent(kept.basic.username);
    target.password = encodeURIComponent(kept.basic.password);
  }
  return { target_url: target.href, headers: kept.headers, cookies: kept.cookies as readonly Cookie[] };
}
