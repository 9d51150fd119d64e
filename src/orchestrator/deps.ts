import type { Clock } from "../base/clock.ts";
import type { Store } from "../store/ports/port.ts";

/** Dependencies of every use case. */
export interface OrchestratorDeps {
  store: Store;
  clock: Clock;
  /** Notifies the engine, wherever it runs, that lanes have work; null: limits or states changed. */
  wake: (lanes: string[] | null) => Promise<void>;
  /** Configured limits of concurrency keys; limits set at run time override them. */
  maxPerResolver?: Readonly<Record<string, number>>;
}
