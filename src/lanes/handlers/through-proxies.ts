/** The only module that chooses proxies: it wraps a handler, whose requests all go through the chosen proxy. */
import { type Clock, sleep } from "../../base/clock.ts";
import { isOrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import { type Failure, FetchFailure } from "../../domain/run/failure.ts";
import type { Handled } from "../../domain/run/outcome.ts";
import { type PageOutcome, shownByPage } from "../../domain/proxy/proxy-score.ts";
import { POOL, type ProxyOptions, proxyOptionsOf } from "../../domain/proxy/proxy-options.ts";
import { Recent } from "../../domain/lane/recent.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { Picked, ProxyPool } from "../../proxies/pool.ts";
import { requestedUpstream } from "../../proxies/sealed-upstream.ts";
import type { ClaimedTask, RunRecord, Store } from "../../store/ports/port.ts";
import { ProxyFailureStreak } from "./proxy-failure-streak.ts";
import type { Asleep, HandlerContext, TaskHandler } from "./handler.ts";

interface ProxiedDeps {
  store: Pick<Store, "run">;
  clock: Clock;
  seal: Seal;
  pool: Pick<ProxyPool, "pick" | "report" | "hasAny">;
  /** No proxy is usable, or none has succeeded for `triedMs`: holds the run until some are. */
  holdRun(runId: string, triedMs: number): Promise<void>;
}

/** How many other proxies are tried within one attempt after failures of each kind. */
const MAX_OTHERS: Readonly<Record<Exclude<PageOutcome["kind"], "good">, number>> = {
  fault: 10,
  unsure: 2,
  blocked: 1,
};

/** How long a task waits when no proxy is available. */
const RETRY_MS = 1_000;

/** A task that waits longer than this for its turn at the site releases its slot in the process. */
const PATIENCE_MS = 1_000;

/** A run whose attempts have all failed for this long is held, although there are proxies left. */
const MAX_STREAK_MS = 30_000;

const MAX_RUNS = 1_000;

/** Kinds of runs that may use a proxy. */
const KINDS: ReadonlySet<string> = new Set(["page", "crawl", "download"]);

interface RunProxy extends ProxyOptions {
  sessionKey: string;
}

/** Makes handlers fetch through the proxy of their task's run. */
export function throughProxies(deps: ProxiedDeps): (handler: TaskHandler) => TaskHandler {
  const runs = new Recent<RunProxy>(MAX_RUNS);
  const streak = new ProxyFailureStreak();
  const readRunProxy = async (runId: string): Promise<RunProxy | null> => {
    const run = await deps.store.run(runId);
    if (run === null) return null;
    const runProxy = runProxyOf(run);
    runs.set(runId, runProxy);
    return runProxy;
  };
  return (handler) => ({
    ...handler,
    async run(task, context) {
      if (!KINDS.has(task.runKind)) return handler.run(task, context);
      const runProxy = runs.get(task.runId) ?? (await readRunProxy(task.runId));
      // A run with a proxy must never fetch without one: nothing is fetched until its setting is known.
      if (runProxy === null) return requeueLater("its run was deleted");
      if (runProxy.proxy === null) return handler.run(task, context);
      if (runProxy.proxy === POOL)
        return new ProxyAttempt(deps, streak, handler, task, context, runProxy.sessionKey).handled();
      const upstream = opened(deps.seal, { ...runProxy, proxy: runProxy.proxy });
      return withProxy(await tried(handler, task, context, upstream), runProxy.proxy);
    },
  });
}

/** Runs with the same session, or of the same job, appear as one visitor. */
function runProxyOf(run: RunRecord): RunProxy {
  const { recipe } = run.snapshot as { recipe?: { session_id?: string | null } };
  return { ...proxyOptionsOf(run.kind, run.snapshot), sessionKey: recipe?.session_id ?? run.jobId ?? run.id };
}

function opened(seal: Seal, runProxy: ProxyOptions & { proxy: string }): Upstream {
  try {
    return requestedUpstream(seal, runProxy);
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    throw new FetchFailure("session_unusable", `${error.message}. ${error.hint ?? ""}`.trim(), { cause: error });
  }
}

/** One attempt at a task, through as many proxies of the pool as it takes. */
class ProxyAttempt {
  readonly #deps: ProxiedDeps;
  readonly #streak: ProxyFailureStreak;
  readonly #startedAt: number;
  readonly #handler: TaskHandler;
  readonly #task: ClaimedTask;
  readonly #context: HandlerContext;
  readonly #sessionKey: string;
  readonly #site: string;
  readonly #tried = new Set<string>();
  readonly #others = { ...MAX_OTHERS };

  constructor(
    deps: ProxiedDeps,
    streak: ProxyFailureStreak,
    handler: TaskHandler,
    task: ClaimedTask,
    context: HandlerContext,
    sessionKey: string,
  ) {
    this.#deps = deps;
    this.#streak = streak;
    this.#startedAt = deps.clock.monotonic();
    this.#handler = handler;
    this.#task = task;
    this.#context = context;
    this.#sessionKey = sessionKey;
    this.#site = siteOf(task.nextUrl ?? task.url ?? "");
  }

  async handled(): Promise<Handled | Asleep> {
    const handled = await this.#tryProxies();
    // A requeued task has not succeeded.
    if (handled.kind !== "handed_back") this.#streak.reset(this.#task.runId, this.#deps.clock.monotonic());
    return handled;
  }

  async #tryProxies(): Promise<Handled | Asleep> {
    const { pool } = this.#deps;
    // The failure that counts if there is no other proxy; a fault of the proxy says nothing about the page.
    let last: Handled | null = null;
    for (;;) {
      const picked = await pool.pick({ site: this.#site, sessionKey: this.#sessionKey, exclude: this.#tried });
      if (picked === null) return last ?? (await this.#noProxy("no proxy is usable now"));
      this.#tried.add(picked.id);
      const { handled, outcome } = await this.#through(picked);
      if (handled.kind === "asleep" || outcome === null || outcome.kind === "good") return handled;
      if (outcome.kind !== "fault") last = handled;
      if (this.#others[outcome.kind] === 0)
        return last ?? (await this.#noProxy("many proxies failed, one after the other"));
      this.#others[outcome.kind] -= 1;
      // The site may have received the request: the next attempt keeps to the site's pace.
      if (outcome.kind !== "fault") await this.#turn();
      this.#context.signal.throwIfAborted();
      this.#context.mayAsk();
    }
  }

  async #turn(): Promise<void> {
    const { nextTurn, leaveSlot, signal } = this.#context;
    const waitMs = nextTurn();
    if (waitMs > PATIENCE_MS) leaveSlot();
    if (waitMs > 0) await sleep(this.#deps.clock, waitMs, signal);
  }

  async #through(picked: Picked): Promise<{ handled: Handled | Asleep; outcome: PageOutcome | null }> {
    let outcome: PageOutcome | null = null;
    try {
      const handled = withProxy(await tried(this.#handler, this.#task, this.#context, picked.upstream), picked.shown);
      if (!this.#context.signal.aborted && handled.kind !== "asleep" && handled.kind !== "handed_back")
        outcome = shownByPage(failureOf(handled), handled.answeredMs ?? null);
      return { handled, outcome };
    } finally {
      this.#deps.pool.report(picked, outcome);
    }
  }

  /** Requeues the task, and holds its run if there is no proxy at all or the streak of failures is too long. */
  async #noProxy(why: string): Promise<Handled> {
    const { clock, pool, holdRun } = this.#deps;
    const { runId } = this.#task;
    const triedMs = this.#streak.failed(runId, this.#startedAt, clock.monotonic());
    if (triedMs >= MAX_STREAK_MS || !(await pool.hasAny())) {
      await holdRun(runId, Math.round(triedMs));
      this.#streak.reset(runId, clock.monotonic());
    }
    return requeueLater(why);
  }
}

function requeueLater(why: string): Handled {
  return { kind: "handed_back", why, waitMs: RETRY_MS };
}

async function tried(
  handler: TaskHandler,
  task: ClaimedTask,
  context: HandlerContext,
  via: Upstream,
): Promise<Handled | Asleep> {
  try {
    return await handler.run(task, { ...context, via });
  } catch (error) {
    if (!(error instanceof FetchFailure) || context.signal.aborted) throw error;
    return { kind: "failed", failure: error.failure };
  }
}

/** Records the proxy in the attempt's history. */
function withProxy(handled: Handled | Asleep, proxy: string): Handled | Asleep {
  return handled.kind === "asleep" ? handled : { ...handled, report: { ...handled.report, proxy } };
}

function failureOf(handled: Handled): Failure | null {
  return "failure" in handled ? handled.failure : null;
}
