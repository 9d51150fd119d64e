/** Slows down token guessing, per address, over all addresses, and per person who is signed in otherwise. */
import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import { type Clock, sleep } from "../base/clock.ts";
import { ApiProblem } from "./problems.ts";

/** This many are answered at once: people mistype. */
const FREE = 10;
const FIRST_MS = 250;
const LONGEST_MS = 8000;
/** The counter of an address resets after this long without guesses. */
const FORGOTTEN_MS = 600_000;
/** More addresses evict the least recent ones. */
const MOST_ADDRESSES = 10_000;
/** Wrong guesses per minute over all addresses, above which each one waits. */
const MOST_IN_ALL = 60;
/** Guesses of one address that count among those. */
const COUNTED_IN_ALL = 20;
const MINUTE_MS = 60_000;
/** Delayed responses: a guess beyond these is rejected at once, so that waiting does not exhaust connections. */
const MOST_WAITING = 64;
const MOST_WAITING_OF_ONE = 8;

/** Wrong secrets of a person that are remembered: each of them counts once. */
const MOST_KNOWN = 8;

/** More would not wait longer, and would be forgiven later. */
const MOST_COUNTED = FREE + 6;

interface Guesses {
  count: number;
  lastAt: number;
  waiting: number;
}

interface PersonalGuesses extends Guesses {
  /** By digest, oldest first: the response to each, which may still wait. */
  known: Map<string, Promise<void>>;
}

declare module "fastify" {
  interface FastifyInstance {
    wrongLogins: WrongLogins;
  }
}

/** The correct token never waits: it is checked first and does not reach this. */
export class WrongLogins {
  readonly #clock: Clock;
  readonly #guesses = new Map<string, Guesses>();
  readonly #ofPeople = new Map<string, PersonalGuesses>();
  #recent: { since: number; count: number } = { since: 0, count: 0 };
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#guesses.size;
  }

  /** Counts a wrong guess and waits for its delay. Throws `too_many_logins`. */
  async slowDown(address: string): Promise<void> {
    const guesses = this.#note(networkOf(address));
    await this.#delay(guesses, Math.max(guesses.count - FREE, this.#recent.count - MOST_IN_ALL));
  }

  /**
   * As `slowDown`, of somebody whom a cookie or a proxy signs in, and whose address may be that of the proxy. Their
   * browser or proxy may send secrets of other systems: the same one counts once, and one a minute does not count.
   */
  slowDownPerson(who: string, secret: string): Promise<void> {
    const now = this.#clock.monotonic();
    const guesses = this.#ofPeople.get(who) ?? { count: 0, lastAt: now, waiting: 0, known: new Map() };
    this.#ofPeople.delete(who);
    this.#ofPeople.set(who, guesses);
    dropOldest(this.#ofPeople, MOST_ADDRESSES);
    const digest = createHash("sha256").update(secret).digest("base64url");
    // Sent twice at once, both wait.
    const known = guesses.known.get(digest);
    if (known !== undefined) return known;
    const left = Math.max(0, guesses.count - (now - guesses.lastAt) / MINUTE_MS);
    guesses.count = Math.min(MOST_COUNTED, left + 1);
    guesses.lastAt = now;
    const answer = this.#delay(guesses, guesses.count - FREE);
    guesses.known.set(digest, answer);
    dropOldest(guesses.known, MOST_KNOWN);
    answer.catch(() => guesses.known.delete(digest));
    return answer;
  }

  /** `over`: guesses beyond the free ones. */
  async #delay(guesses: Guesses, over: number): Promise<void> {
    if (over <= 0) return;
    const waitMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(over - 1, 20));
    if (this.#waiting >= MOST_WAITING || guesses.waiting >= MOST_WAITING_OF_ONE)
      throw new ApiProblem("too_many_logins", "too many wrong tokens in a short time", {
        headers: { "retry-after": String(Math.ceil(LONGEST_MS / 1000)), connection: "close" },
      });
    this.#waiting += 1;
    guesses.waiting += 1;
    try {
      await sleep(this.#clock, waitMs);
    } finally {
      this.#waiting -= 1;
      guesses.waiting -= 1;
    }
  }

  #note(network: string): Guesses {
    const now = this.#clock.monotonic();
    const known = this.#guesses.get(network);
    const isOld = known !== undefined && known.waiting === 0 && now - known.lastAt > FORGOTTEN_MS;
    const guesses = known === undefined || isOld ? { count: 0, lastAt: now, waiting: 0 } : known;
    guesses.count += 1;
    guesses.lastAt = now;
    // The map is in the order of the last guesses.
    this.#guesses.delete(network);
    this.#guesses.set(network, guesses);
    dropOldest(this.#guesses, MOST_ADDRESSES);
    if (now - this.#recent.since > MINUTE_MS) this.#recent = { since: now, count: 0 };
    // One address alone must not slow down the others.
    if (guesses.count <= COUNTED_IN_ALL) this.#recent.count += 1;
    return guesses;
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

/** Of IPv6 the first 64 bits: one client usually has the whole network. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.split("%")[0]!.split("::");
  const first = head.split(":").filter((part) => part !== "");
  const last = tail === undefined ? [] : tail.split(":").filter((part) => part !== "");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill("0"), ...last].slice(0, 4).join(":");
}
