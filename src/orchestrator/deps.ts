import type { Clock } from "../base/clock.ts";
import type { Store } from "../store/ports/port.ts";

/** What every use case works with. */
export interface OrchestratorDeps {
  store: Store;
  clock: Clock;
  /** Tells the engine, wherever it runs, that lanes have work; null: that limits or states changed. */
  wake: (lanes: string[] | null) => Promise<void>;
  /** The configured limits of resolvers, where nobody has set another one. */
  maxPerResolver?: Readonly<Record<string, number>>;
}
