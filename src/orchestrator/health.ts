/** Health checks of an installation. */
import type { Clock } from "../base/clock.ts";
import { isOrbError, messageOf } from "../base/errors.ts";
import { isoOf } from "../base/iso.ts";
import type { Log } from "../base/log.ts";

/** Throws when its component is unusable; may return a finding. */
export type Probe = () => Promise<Finding | void>;

export interface Finding {
  /** It works, but degraded; absent: healthy. */
  degraded?: true;
  message: string;
  /** Since when, if known. */
  since?: number;
}

export interface CheckResult {
  name: string;
  status: "ok" | "degraded" | "failed";
  latency_ms: number;
  message?: string;
}

export interface Degradation {
  what: string;
  why: string;
  since: string;
}

export interface HealthDeps {
  clock: Clock;
  log: Log;
  probes: Readonly<Record<string, Probe>>;
  /** Timeout of one probe. */
  probeMs: number;
}

/** Runs all probes on request and remembers since when each one fails. */
export class Health {
  readonly #deps: HealthDeps;
  readonly #since = new Map<string, number>();

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  async checks(): Promise<CheckResult[]> {
    return Promise.all(Object.entries(this.#deps.probes).map(([name, probe]) => this.#try(name, probe)));
  }

  /** The checks that failed. */
  degraded(checks: readonly CheckResult[]): Degradation[] {
    return checks
      .filter(({ status }) => status !== "ok")
      .map(({ name, message }) => ({
        what: name,
        why: message ?? "it cannot be used",
        since: isoOf(this.#since.get(name) ?? this.#deps.clock.now()),
      }));
  }

  async #try(name: string, probe: Probe): Promise<CheckResult> {
    const { clock } = this.#deps;
    const begun = clock.monotonic();
    const { status, message, since } = await this.#ask(name, probe);
    if (status === "ok") this.#since.delete(name);
    else this.#since.set(name, since ?? this.#since.get(name) ?? clock.now());
    const latency_ms = Math.max(0, Math.round((clock.monotonic() - begun) * 10) / 10);
    return { name, status, latency_ms, ...(message === undefined ? {} : { message }) };
  }

  #ask(name: string, probe: Probe): Promise<{ status: CheckResult["status"]; message?: string; since?: number }> {
    const { clock, log, probeMs } = this.#deps;
    return new Promise((resolve) => {
      const failed = (message: string) => resolve({ status: "failed", message });
      const late = clock.after(probeMs, () => failed(`no answer within ${probeMs / 1000} s`));
      probe()
        .then(
          (found) =>
            resolve(
              found === undefined
                ? { status: "ok" }
                : { ...found, status: found.degraded === true ? "degraded" : "ok" },
            ),
          (error: unknown) => {
            // An unexpected error may contain details of the machine: log it, do not return it.
            log.warn("a probe failed", { probe: name, error: messageOf(error) });
            failed(isOrbError(error) ? error.message : "cannot be used; see the log");
          },
        )
        .finally(() => late.cancel());
    });
  }
}
