/**
 * Firecrawl's routes, in both of its versions. They are hidden from the description of our own API: their shapes are another
 * product's, described by it, and kept true by its own client in the tests.
 */
import { namespaceOf } from "../api/idempotency.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../api/instance.ts";
import { ApiProblem } from "../api/problems.ts";
import { limitsOf } from "../api/deps.ts";
import { isSecure } from "../api/security.ts";
import { isUpgrade } from "../api/upgrades.ts";
import { OrbError } from "../base/errors.ts";
import { InputReader } from "../domain/text/input-reader.ts";
import { cancelRun } from "../orchestrator/runs/control.ts";
import { readBatch, readCrawl } from "./crawl-options.ts";
import { type FirecrawlDeps, markOf } from "./deps.ts";
import { faultOf, FirecrawlFault, rejectInvalid } from "./fault.ts";
import { mapPages, readMap } from "./map.ts";
import { listErrors } from "./page-errors.ts";
import { addParse } from "./parse.ts";
import { readScrape, scrapePage } from "./scrape.ts";
import type { Version } from "./scrape-options.ts";
import { readSearch, search } from "./search.ts";
import { startAsked } from "./start.ts";
import { hasEnded, requireCrawlRun, showStatus, type StatusWindow } from "./status.ts";
import { UNAVAILABLE } from "./unavailable.ts";
import { showConcurrency, showCredits, showQueue } from "./usage.ts";
import { watchRun } from "./watch.ts";

export function addFirecrawl(api: ApiInstance, deps: FirecrawlDeps): void {
  api.upgradePaths.push({ path: /^\/v[12]\/(?:crawl|batch\/scrape)\/[\w-]+$/, keyInProtocol: true });
  for (const version of ["v1", "v2"] as const)
    api.register(
      async (scope) => {
        answerInItsShape(scope as ApiInstance, deps);
        addRoutes(scope as ApiInstance, deps, version);
      },
      { prefix: `/${version}` },
    );
}

/** No schema of ours: what is sent is read, and refused, name by name. */
const open = { config: { role: "operator" }, schema: { hide: true, body: {} } } as const;
const bare = { config: { role: "viewer" }, schema: { hide: true } } as const;
const cancelling = { config: { role: "operator", limited: true }, schema: { hide: true } } as const;
/** The store finds only what is within the limits of a key. */
const within = { ...bare, config: { role: "viewer", limited: true } } as const;
const starting = { ...open, config: { role: "operator", limited: true } } as const;

function addRoutes(api: ApiInstance, deps: FirecrawlDeps, version: Version): void {
  const { llm } = deps.extractors;
  const large = { ...starting, bodyLimit: limitsOf(deps).workflowBytes };
  api.post("/scrape", starting, async (request, reply) => {
    const order = readScrape(request.body, version, { llm });
    // The page may take longer than a silent connection is kept otherwise.
    request.raw.socket.setTimeout(order.timeoutMs + 60_000);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    const { warning, ...document } = await scrapePage(deps, order, baseOf(request), gone.signal);
    return {
      success: true,
      ...(warning === undefined ? {} : { warning }),
      data: { ...document, ...(warning === undefined ? {} : { warning }) },
    };
  });

  addParse(api, deps, version);

  api.post("/map", open, async (request, reply) => {
    const order = readMap(request.body, version);
    request.raw.socket.setTimeout(order.timeoutMs + 60_000);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    const links = await mapPages(deps, order, gone.signal);
    return { success: true, links: version === "v1" ? links.map(({ url }) => url) : links };
  });

  api.post("/search", open, async (request, reply) => {
    const ask = readSearch(request.body, version, { llm });
    request.raw.socket.setTimeout(ask.timeoutMs + 60_000);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    return search(deps, ask, version, baseOf(request), gone.signal);
  });

  for (const [path, read] of [
    ["/crawl", readCrawl],
    ["/batch/scrape", readBatch],
  ] as const) {
    api.post(path, large, async (request) => {
      const ask = read(request.body, version, { llm });
      const run = await startAsked(deps, ask, { base: baseOf(request), idempotencyKey: idempotencyKeyOf(request) });
      const invalid = ask.kind === "batch" ? { invalidURLs: ask.invalid } : {};
      return { success: true, id: run.id, url: `${baseOf(request)}/${version}${path}/${run.id}`, ...invalid };
    });

    const runPath = `${path}/:id`;
    api.get(runPath, within, async (request, reply) => {
      const { id } = request.params as { id: string };
      const links = { base: baseOf(request), path: `/${version}${path}/${id}` };
      if (isUpgrade(request)) return watchRun(deps, request, reply, { id, version, ...links });
      return showStatus(deps, id, links, windowOf(request));
    });
    api.delete(runPath, cancelling, (request) => cancel(deps, request));
    const errors = (request: ApiRequest) => listErrors(deps, (request.params as { id: string }).id);
    api.get(`${runPath}/errors`, within, errors);
    // The client of the first version asks for them so.
    api.delete(`${runPath}/errors`, within, errors);
  }

  for (const path of ["/crawl/active", "/crawl/ongoing"]) api.get(path, within, () => activeCrawls(deps));
  api.get("/concurrency-check", bare, () => showConcurrency(deps));
  api.get("/team/queue-status", bare, () => showQueue(deps));
  api.get("/team/credit-usage", bare, async () => showCredits("credits", version));
  api.get("/team/token-usage", bare, async () => showCredits("tokens", version));
  for (const what of ["credit", "token"])
    api.get(`/team/${what}-usage/historical`, bare, async () => ({ success: true, periods: [] }));
  addUnavailable(api);
}

function addUnavailable(api: ApiInstance): void {
  const refuse = (why: string) => async () => {
    throw new FirecrawlFault(501, why, { code: "NOT_AVAILABLE" });
  };
  for (const [name, why] of Object.entries(UNAVAILABLE)) {
    for (const path of [`/${name}`, `/${name}/*`]) {
      for (const method of ["GET", "DELETE"] as const) api.route({ method, url: path, ...bare, handler: refuse(why) });
      for (const method of ["POST", "PATCH"] as const) api.route({ method, url: path, ...open, handler: refuse(why) });
    }
  }
  api.post(
    "/crawl/params-preview",
    open,
    refuse("Options from a prompt are not supported: use includePaths, excludePaths and limit."),
  );
  const interact = refuse("A scraped page is not kept open: send actions with the scrape.");
  api.post("/scrape/:id/interact", open, interact);
  api.delete("/scrape/:id/interact", bare, interact);
}

async function cancel(deps: FirecrawlDeps, request: ApiRequest): Promise<object> {
  const { id } = request.params as { id: string };
  const run = await requireCrawlRun(deps, id);
  if (hasEnded(run) && run.status !== "cancelled")
    throw new FirecrawlFault(409, `it has already ended: ${run.status}`, { code: "ALREADY_ENDED" });
  await cancelRun(deps, id);
  return { success: true, status: "cancelled" };
}

const MOST_ACTIVE = 100;

async function activeCrawls({ store }: FirecrawlDeps): Promise<object> {
  const runs = await store.runs({ kind: "crawl", status: ["queued", "running", "paused"], limit: MOST_ACTIVE });
  const crawls = runs
    .filter((run) => markOf(run)?.kind !== "batch")
    .map(({ id, url, createdAt }) => ({
      id,
      teamId: "local",
      url,
      created_at: new Date(createdAt).toISOString(),
      options: null,
    }));
  return { success: true, crawls };
}

function windowOf(request: ApiRequest): StatusWindow {
  const query = request.query as Record<string, unknown>;
  const numbers = new InputReader(
    Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, /^\d{1,9}$/.test(String(value)) ? Number(value) : value]),
    ),
  );
  const skip = numbers.number("skip");
  const limit = numbers.number("limit", { min: 1 });
  const after = numbers.text("after");
  rejectInvalid(numbers);
  return {
    ...(skip === undefined ? {} : { skip }),
    ...(limit === undefined ? {} : { limit }),
    ...(after === undefined ? {} : { after }),
  };
}

/** Of the caller, and apart from the keys of our own routes: none of these begins so, and none contains a space. */
function idempotencyKeyOf(request: ApiRequest): string | undefined {
  const key = request.headers["x-idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return `firecrawl ${namespaceOf(request)}${key}`;
  throw new OrbError("input_invalid", "x-idempotency-key: expected 1 to 255 visible ASCII characters", {
    fields: [{ path: "x-idempotency-key", message: "expected 1 to 255 visible ASCII characters" }],
  });
}

/** Where the caller has found us; what speaks TLS before us says so. */
export function baseOf(request: ApiRequest): string {
  return `${isSecure(request) ? "https" : "http"}://${request.headers.host ?? "localhost"}`;
}

function answerInItsShape(api: ApiInstance, { log }: FirecrawlDeps): void {
  const send = (error: unknown, request: ApiRequest, reply: ApiReply) => {
    const { status, body, headers, unforeseen } = faultOf(error, request.id);
    if (unforeseen && !reply.raw.destroyed)
      log.error("a call failed", {
        error_id: request.id,
        route: request.routeOptions.url,
        stack: error instanceof Error ? error.stack : String(error),
      });
    return reply
      .code(status)
      .headers(headers)
      .header("content-type", "application/json; charset=utf-8")
      .send(JSON.stringify(body));
  };
  api.setErrorHandler((error, request, reply) => send(error, request, reply));
  api.setNotFoundHandler((request, reply) =>
    send(
      new ApiProblem("route_not_found", `${request.method} ${request.url.split("?")[0]} is not supported`),
      request,
      reply,
    ),
  );
}
