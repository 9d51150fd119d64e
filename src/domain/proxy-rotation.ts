/** Which of the proxies that may be used is taken next. */
import { Recent } from "./recent.ts";

export const PROXY_ROTATIONS = ["round_robin", "least_used", "sticky"] as const;
export type ProxyRotation = (typeof PROXY_ROTATIONS)[number];

export interface Candidate {
  id: string;
  /** Its share among the others; more than 0. */
  weight: number;
}

/** Keeps what it needs to be fair; whoever is not among the candidates is forgotten in time. */
export interface Rotation {
  /** `key` stands for a session at a site. There is at least one candidate. */
  next<T extends Candidate>(candidates: readonly T[], key: string): T;
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

const MOST_REMEMBERED = 20_000;

/** Each in turn as often as its weight says, and as evenly spread as that allows. */
class RoundRobin implements Rotation {
  readonly #due = new Recent<number>(MOST_REMEMBERED);

  next<T extends Candidate>(candidates: readonly T[]): T {
    let total = 0;
    let best = candidates[0]!;
    let most = Number.NEGATIVE_INFINITY;
    for (const one of candidates) {
      total += one.weight;
      const due = (this.#due.get(one.id) ?? 0) + one.weight;
      this.#due.set(one.id, due);
      if (due > most) [best, most] = [one, due];
    }
    this.#due.set(best.id, most - total);
    return best;
  }
}

/** The one that was used least for its weight. */
class LeastUsed implements Rotation {
  readonly #uses = new Recent<number>(MOST_REMEMBERED);
  /** Where the least used one stood at the last choice. */
  #least = 0;

  next<T extends Candidate>(candidates: readonly T[]): T {
    let best = candidates[0]!;
    let least = Number.POSITIVE_INFINITY;
    for (const one of candidates) {
      // Who is new, or comes back from a rest, begins where the others are: it does not get all the traffic first.
      const uses = Math.max(this.#uses.get(one.id) ?? 0, this.#least);
      if (uses < least) [best, least] = [one, uses];
    }
    this.#least = least;
    this.#uses.set(best.id, least + 1 / best.weight);
    return best;
  }
}

/** A proxy whose weight is below this part of the best one's is no first choice. */
const GOOD_ENOUGH = 0.2;

/** The same one for the same session and site. Which one that is does not depend on the process that asks. */
class Sticky implements Rotation {
  readonly #kept = new Recent<string>(MOST_REMEMBERED);

  next<T extends Candidate>(candidates: readonly T[], key: string): T {
    const kept = this.#kept.get(key);
    const same = candidates.find(({ id }) => id === kept);
    const chosen = same ?? this.#first(candidates, key);
    this.#kept.set(key, chosen.id);
    return chosen;
  }

  #first<T extends Candidate>(candidates: readonly T[], key: string): T {
    const best = candidates.reduce((most, { weight }) => Math.max(most, weight), 0);
    const good = candidates.filter(({ weight }) => weight >= best * GOOD_ENOUGH);
    let [chosen, most] = [good[0]!, -1];
    for (const one of good) {
      const rank = rankOf(`${key}\n${one.id}`);
      if (rank > most) [chosen, most] = [one, rank];
    }
    return chosen;
  }
}

/** Rendezvous hashing: FNV-1a with a last stir. Ten thousand of them take a millisecond. */
function rankOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
