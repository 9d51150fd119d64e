import type { Bucket } from "../../domain/lane/bucket.ts";
import type { LaneGrant } from "../../store/ports/port.ts";
import type { AdaptiveConcurrency } from "./adaptive-concurrency.ts";

/** State that an owner keeps for its next turn at the same lane, so that a slow rate does not start from zero. */
export interface PaceMemory {
  bucket: Bucket;
  lastStart: number;
  crawlDelays: ReadonlyMap<string, number>;
  adaptive: AdaptiveConcurrency;
}

const MAX_MEMORIES = 10_000;

/** Paces of lanes that this process released; valid only if no other process owned the lane in between. */
export class PaceMemories {
  readonly #memories = new Map<string, PaceMemory & { epoch: number }>();

  remember(grant: LaneGrant, memory: PaceMemory): void {
    this.#memories.delete(grant.lane);
    this.#memories.set(grant.lane, { ...memory, epoch: grant.epoch });
    const [oldest] = this.#memories.keys();
    if (this.#memories.size > MAX_MEMORIES && oldest !== undefined) this.#memories.delete(oldest);
  }

  /** Another process may have owned the lanes, or the store lost the ownership. */
  forget(): void {
    this.#memories.clear();
  }

  recall(grant: LaneGrant): PaceMemory | undefined {
    const memory = this.#memories.get(grant.lane);
    return memory?.epoch === grant.epoch - 1 ? memory : undefined;
  }
}
