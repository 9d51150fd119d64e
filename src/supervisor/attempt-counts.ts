import type { SettledTask } from "../store/ports/port.ts";
import type { AttemptCount } from "../store/ports/worker-port.ts";

/** Attempts of this process, by strategy and outcome. */
export class AttemptCounts {
  readonly #counts = new Map<string, AttemptCount>();

  note({ attempt, verdict }: SettledTask): void {
    if (attempt === null) return;
    const { strategy, failure_code: failureCode, duration_ms: ms } = attempt;
    const key = `${strategy} ${verdict.kind} ${failureCode ?? ""}`;
    const count = this.#counts.get(key) ?? { strategy, outcome: verdict.kind, failureCode, count: 0, ms: 0 };
    count.count += 1;
    count.ms += ms;
    this.#counts.set(key, count);
  }

  read(): AttemptCount[] {
    return [...this.#counts.values()];
  }
}
