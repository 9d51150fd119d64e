import type { Bucket } from "../../domain/lane/bucket.ts";
import type { LaneGrant } from "../../store/ports/port.ts";
import type { AdaptiveConcurrency } from "./adaptive-concurrency.ts";

/** What an owner that takes its own lane again must still know, so that a slow rate does not start from zero each time. */
export interface PaceMemory {
  bucket: Bucket;
  lastStart: number;
  crawlDelays: ReadonlyMap<string, number>;
  ease: AdaptiveConcurrency;
}

const MEMORIES_AT_MOST = 10_000;

/** Paces of lanes that this process released. They are valid only if no other process owned the lane in between. */
export class PaceMemories {
  readonly #memories = new Map<string, PaceMemory & { epoch: number }>();

  remember(grant: LaneGrant, memory: PaceMemory): void {
    this.#memories.delete(grant.lane);
    this.#memories.set(grant.lane, { ...memory, epoch: grant.epoch });
    const [oldest] = this.#memories.keys();
    if (this.#memories.size > MEMORIES_AT_MOST && oldest !== undefined) this.#memories.delete(oldest);
  }

  /** Somebody else may have owned them, or the store lost who did. */
  forget(): void {
    this.#memories.clear();
  }

  recall(grant: LaneGrant): PaceMemory | undefined {
    const memory = this.#memories.get(grant.lane);
    return memory?.epoch === grant.epoch - 1 ? memory : undefined;
  }
}
