/** Which of the proxies that may be used is taken next. */
import { Recent } from "../lane/recent.ts";

export const PROXY_ROTATIONS = ["round_robin", "least_used", "sticky"] as const;
export type ProxyRotation = (typeof PROXY_ROTATIONS)[number];

/**
 * Proxies have dense seat numbers from 0, so that ten thousand of them are scanned in a fraction of a millisecond. A removed
 * proxy frees its seat for another.
 */
export interface Rotation {
  /** Sticky: a session is not moved to another proxy just to probe it. */
  readonly keeps: boolean;
  /** A new proxy takes this seat. */
  seat(seat: number, id: string): void;
  /** The proxy in this seat was unusable for a while, and is back. */
  returned(seat: number): void;
  /**
   * The seat of the next one. `shares`: what part each is to have among the others, by seat; 0: not this one. There is
   * at least one above 0. `key` stands for a session at a site.
   */
  next(shares: readonly number[], key: string): number;
}

export function createRotation(policy: ProxyRotation): Rotation {
  switch (policy) {
    case "round_robin":
      return new RoundRobin();
    case "least_used":
      return new LeastUsed();
    case "sticky":
      return new Sticky();
  }
}

/** Each in turn as often as its share says, and as evenly spread as that allows. */
class RoundRobin implements Rotation {
  readonly keeps = false;
  readonly #due: number[] = [];

  seat(seat: number): void {
    this.#due[seat] = 0;
  }

  returned(): void {}

  next(shares: readonly number[]): number {
    let total = 0;
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let seat = 0; seat < shares.length; seat += 1) {
      const share = shares[seat]!;
      if (share === 0) continue;
      total += share;
      const due = (this.#due[seat]! += share);
      if (due > most) [best, most] = [seat, due];
    }
    this.#due[best] = most - total;
    return best;
  }
}

/** The one that was used least for its share; of several the one whose last use is longest ago. */
class LeastUsed implements Rotation {
  readonly keeps = false;
  readonly #uses: number[] = [];
  readonly #usedAt: number[] = [];
  /** New or returned proxies whose usage is not aligned with the others yet. */
  readonly #late = new Set<number>();
  #turn = 0;

  seat(seat: number): void {
    this.#uses[seat] = 0;
    this.#usedAt[seat] = 0;
    this.#late.add(seat);
  }

  returned(seat: number): void {
    this.#late.add(seat);
  }

  next(shares: readonly number[]): number {
    if (this.#late.size > 0) this.#catchUp(shares);
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let seat = 0; seat < shares.length; seat += 1) {
      if (shares[seat] === 0) continue;
      const uses = this.#uses[seat]!;
      if (uses < least || (uses === least && this.#usedAt[seat]! < this.#usedAt[best]!)) [best, least] = [seat, uses];
    }
    this.#uses[best] = least + 1 / shares[best]!;
    this.#usedAt[best] = this.#turn += 1;
    return best;
  }

  /** They start at the usage of the least used other proxy, so that they do not get all traffic first. */
  #catchUp(shares: readonly number[]): void {
    let least = Number.POSITIVE_INFINITY;
    for (let seat = 0; seat < shares.length; seat += 1)
      if (shares[seat] !== 0 && !this.#late.has(seat)) least = Math.min(least, this.#uses[seat]!);
    if (least < Number.POSITIVE_INFINITY)
      for (const seat of this.#late) this.#uses[seat] = Math.max(this.#uses[seat]!, least);
    this.#late.clear();
  }
}

const MOST_REMEMBERED = 20_000;
/** A proxy whose share is below this part of the best one's is no first choice. */
const GOOD_ENOUGH = 0.2;

/** The same proxy for the same session and site, in every process. */
class Sticky implements Rotation {
  readonly keeps = true;
  readonly #ids: string[] = [];
  readonly #hashes: number[] = [];
  readonly #kept = new Recent<{ seat: number; id: string }>(MOST_REMEMBERED);

  seat(seat: number, id: string): void {
    this.#ids[seat] = id;
    this.#hashes[seat] = hashOf(id);
  }

  returned(): void {}

  next(shares: readonly number[], key: string): number {
    const kept = this.#kept.get(key);
    const isThere = kept !== undefined && this.#ids[kept.seat] === kept.id && (shares[kept.seat] ?? 0) > 0;
    const seat = isThere ? kept.seat : this.#first(shares, key);
    this.#kept.set(key, { seat, id: this.#ids[seat]! });
    return seat;
  }

  /** Rendezvous hashing. */
  #first(shares: readonly number[], key: string): number {
    let highest = 0;
    for (const share of shares) if (share > highest) highest = share;
    const enough = highest * GOOD_ENOUGH;
    const hash = hashOf(key);
    let [chosen, most] = [-1, -1];
    for (let seat = 0; seat < shares.length; seat += 1) {
      if (shares[seat] === 0 || shares[seat]! < enough) continue;
      const rank = mixed(hash ^ this.#hashes[seat]!);
      if (rank > most) [chosen, most] = [seat, rank];
    }
    return chosen;
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

function mixed(bits: number): number {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
