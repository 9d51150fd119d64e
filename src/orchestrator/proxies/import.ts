/** Imports proxies, from a request or from a list at a URL. */
import { type FieldError, OrbError } from "../../base/errors.ts";
import { classifyStatus } from "../../domain/run/classify.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { parseProxy, proxyLines } from "../../domain/proxy/proxy-list.ts";
import { fetchUrl } from "../../domain/text/url.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { checkHost, checkUrl } from "../../net/guard.ts";
import type { HttpClient } from "../../net/http-client.ts";
import { toNewProxy } from "../../proxies/sealed-upstream.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "../jobs/deps.ts";

export const MOST_AT_ONCE = 10_000;
/** Lists at most this many rejected entries. */
const MOST_NAMED = 1000;
const MOST_BYTES = 4 * 1024 * 1024;
const LONGEST_FETCH_MS = 20_000;

export interface ImportView {
  added: number;
  existing: number;
  invalid: { index: number; message: string }[];
  /** Number of rejected entries; may exceed the listed ones. */
  invalid_count: number;
}

type StoreDeps = Pick<JobDeps, "store" | "clock" | "seal" | "policy">;

export type ImportDeps = StoreDeps & {
  /** The HTTP client, loaded on first use. */
  listFetcher(): Promise<Pick<HttpClient, "fetch">>;
};

/** Imports valid entries; the others are reported by their index in the list, from 0. */
export async function importProxies(deps: StoreDeps, texts: readonly string[]): Promise<ImportView> {
  const good: Upstream[] = [];
  const bad: ImportView["invalid"] = [];
  texts.forEach((text, index) => {
    const proxy = readOne(deps, text);
    if (typeof proxy === "string") bad.push({ index, message: proxy });
    else good.push(proxy);
  });
  if (good.length === 0 && bad.length > 0) throw allBad(bad);
  const { added, existing } = await deps.store.addProxies(
    good.map((proxy) => toNewProxy(deps.seal, proxy)),
    deps.clock.now(),
  );
  return { added, existing, invalid: bad.slice(0, MOST_NAMED), invalid_count: bad.length };
}

function readOne({ policy }: StoreDeps, text: string): Upstream | string {
  const proxy = parseProxy(text);
  if (typeof proxy === "string") return proxy;
  try {
    checkHost(proxy.hostname, policy);
    return proxy;
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    return "is not on the public internet; APP_ALLOW_PRIVATE_NETWORKS can allow its network";
  }
}

const NAMED_IN_ERROR = 20;

function allBad(bad: ImportView["invalid"]): OrbError {
  const fields: FieldError[] = bad
    .slice(0, NAMED_IN_ERROR)
    .map(({ index, message }) => ({ path: `proxies.${index}`, message }));
  return new OrbError("input_invalid", `none of the ${bad.length} proxies is valid: ${bad[0]?.message}`, { fields });
}

/** Imports a list from a URL, one proxy per line. `index` in the result counts non-blank lines, from 0. */
export async function importProxyList(deps: ImportDeps, url: string): Promise<ImportView> {
  const lines = proxyLines(await fetchList(deps, url)).map(({ text }) => text);
  if (lines.length === 0) throw invalid([{ path: "url", message: "this URL contains no proxy" }]);
  if (lines.length > MOST_AT_ONCE)
    throw invalid([
      { path: "url", message: `the list has ${lines.length} lines, at most ${MOST_AT_ONCE} are allowed` },
    ]);
  return importProxies(deps, lines);
}

async function fetchList(deps: ImportDeps, address: string): Promise<string> {
  const url = fetchUrl(address);
  if (url === null) throw invalid([{ path: "url", message: "expected a URL that starts with http:// or https://" }]);
  try {
    checkUrl(new URL(url), deps.policy);
    const chunks: Buffer[] = [];
    const http = await deps.listFetcher();
    const { status } = await http.fetch(
      { url, limits: { totalMs: LONGEST_FETCH_MS, maxBodyBytes: MOST_BYTES } },
      { start: () => {}, write: (chunk) => void chunks.push(chunk) },
    );
    const refused = classifyStatus(status, null);
    if (refused === null) return Buffer.concat(chunks).toString("utf8");
    throw invalid([{ path: "url", message: refused.message }]);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    if (error.failure.code !== "forbidden_target") throw invalid([{ path: "url", message: error.message }]);
    const message = "is not on the public internet; APP_ALLOW_PRIVATE_NETWORKS can allow its network";
    throw new OrbError("forbidden_target", `url: ${message}`, { fields: [{ path: "url", message }], cause: error });
  }
}
