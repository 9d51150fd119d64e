import { FetchFailure } from "../../src/domain/run/failure.ts";
import { classifyStatus } from "../../src/domain/run/classify.ts";
import type { Handled } from "../../src/domain/run/outcome.ts";
import { siteOf } from "../../src/domain/text/url.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import type { SimProcess, World } from "./world.ts";

/** What the simulated server does with a page. */
export type PageScript =
  | { kind: "ok" }
  /** Fails `times` times, then answers. */
  | { kind: "flaky"; times: number }
  | { kind: "missing" }
  | { kind: "broken" }
  /** Asks for patience `times` times. */
  | { kind: "limited"; times: number; retryAfterMs: number | null }
  | { kind: "redirect"; to: string }
  | { kind: "refused" };

interface Request {
  site: string;
  resolver: string | null;
  process: SimProcess;
}

/** The wire: who asks which site for what, watched for everything the product promises. */
export class Network {
  readonly #world: World;
  readonly pages = new Map<string, PageScript>();
  readonly hits = new Map<string, number>();
  readonly #open = new Set<Request>();
  readonly #lastStart = new Map<string, number>();
  readonly #limits: { perSite: number; perResolver: Record<string, number>; minDelayMs: number };
  readonly violations: string[] = [];
  latency = () => 5;

  constructor(world: World, limits: { perSite: number; perResolver: Record<string, number>; minDelayMs: number }) {
    this.#world = world;
    this.#limits = limits;
  }

  requests(): number {
    return [...this.hits.values()].reduce((sum, n) => sum + n, 0);
  }

  handlerFor(process: SimProcess): TaskHandler {
    return {
      strategy: "http",
      run: async (task, { signal }) => {
        const url = task.nextUrl ?? task.url ?? "";
        return this.#answer(url, await this.ask(process, url, task.resolver, signal));
      },
    };
  }

  /** One request: takes its time, and says how often the address has been asked for. */
  async ask(process: SimProcess, url: string, resolver: string | null, signal: AbortSignal): Promise<number> {
    // What a killed process still had on its stack does not happen.
    if (!process.alive) return new Promise<never>(() => {});
    const site = siteOf(url);
    const request = { site, resolver, process };
    this.#open.add(request);
    this.#watch(request);
    const hit = (this.hits.get(url) ?? 0) + 1;
    this.hits.set(url, hit);
    process.onDeath.push(() => this.#open.delete(request));
    try {
      await new Promise<void>((resolve, reject) => {
        this.#world.schedule(this.latency(), resolve, process);
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      });
    } finally {
      this.#open.delete(request);
    }
    return hit;
  }

  #answer(url: string, hit: number): Handled {
    const script = this.pages.get(url) ?? { kind: "missing" };
    const good: Handled = {
      kind: "completed",
      artifacts: [{ hash: "ab".repeat(32), size: 1, contentType: null, url }],
      results: [{ url }],
    };
    const status = (code: number, retryAfterMs: number | null = null): Handled => {
      const failure = classifyStatus(code, retryAfterMs);
      return failure === null ? good : { kind: "failed", failure };
    };
    switch (script.kind) {
      case "ok":
        return good;
      case "flaky":
        if (hit > script.times) return good;
        throw new FetchFailure("connection_reset", "the connection was reset");
      case "missing":
        return status(404);
      case "broken":
        return status(500);
      case "limited":
        return hit > script.times ? good : status(script.retryAfterMs === null ? 429 : 503, script.retryAfterMs);
      case "redirect":
        return { kind: "moved", url: script.to, redirects: [url] };
      case "refused":
        throw new FetchFailure("private_address", "refused");
    }
  }

  /** The open sockets of a frozen process are not counted: it cannot close them. */
  #watch(request: Request): void {
    const { perSite, perResolver, minDelayMs } = this.#limits;
    const counted = [...this.#open].filter((other) => other === request || !this.#world.isFrozen(other.process));
    const thawed = counted.filter((other) => other === request || other.process.frozenUntil === 0);
    const here = thawed.filter((other) => other.site === request.site).length;
    if (here > perSite) this.violations.push(`${here} requests at once to ${request.site}, ${perSite} are allowed`);
    const cap = request.resolver === null ? undefined : perResolver[request.resolver];
    if (cap !== undefined) {
      const same = thawed.filter((other) => other.resolver === request.resolver).length;
      if (same > cap) this.violations.push(`${same} requests at once for ${request.resolver}, ${cap} are allowed`);
    }
    const last = this.#lastStart.get(request.site);
    if (last !== undefined && this.#world.time - last < minDelayMs - 0.001) {
      this.violations.push(`${request.site} was asked again after ${this.#world.time - last} ms`);
    }
    this.#lastStart.set(request.site, this.#world.time);
  }
}
