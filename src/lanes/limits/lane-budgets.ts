import type { Signal } from "../../base/signal.ts";
import type { Budgets } from "./budgets.ts";

/** One lane's access to the budgets of its process; the lane's signal is raised when it is worth asking again. */
export class LaneBudgets {
  readonly #budgets: Budgets;
  readonly #lane: Signal;

  constructor(budgets: Budgets, lane: Signal) {
    this.#budgets = budgets;
    this.#lane = lane;
  }

  readonly take = (resolver: string): boolean => this.#budgets.take(resolver, this.#lane);

  readonly room = (resolver: string): number => this.#budgets.claimable(resolver, this.#lane);

  readonly promise = (rooms: Readonly<Record<string, number | null>>) => this.#budgets.promise(rooms);

  readonly wait = (resolver: string): void => this.#budgets.wait(resolver, this.#lane);

  /** `written` resolves when the task's outcome is in the store. */
  release(resolver: string | null, written: () => Promise<unknown>): void {
    if (resolver === null) return;
    const release = () => this.#budgets.release(resolver, this.#lane);
    if (this.#budgets.isSmall(resolver)) void written().then(release, release);
    else release();
  }

  /** `movesOn`: another process takes over the lane and asks for its permits. */
  leaveLine({ movesOn = false } = {}): void {
    this.#budgets.leaveLine(this.#lane, movesOn);
  }
}
