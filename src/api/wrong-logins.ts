/** Guessing the token takes longer with every wrong guess, for the address that it comes from and for all together. */
import { isIPv6 } from "node:net";
import { type Clock, sleep } from "../base/clock.ts";
import { ApiProblem } from "./problems.ts";

/** So many are answered at once: people mistype. */
const FREE = 10;
const FIRST_MS = 250;
const LONGEST_MS = 8000;
/** Who has guessed nothing for so long begins anew. */
const FORGOTTEN_MS = 600_000;
/** Addresses that are remembered; beyond that the least recent are evicted. */
const MOST_ADDRESSES = 10_000;
/** Wrong guesses a minute, of all addresses together, from which on each of them waits. */
const MOST_IN_ALL = 60;
const MINUTE_MS = 60_000;
/** Answers that wait: a guess beyond these is refused at once, so that waiting takes no connections from others. */
const MOST_WAITING = 64;
const MOST_WAITING_OF_ONE = 8;

interface Guesses {
  count: number;
  lastAt: number;
  waiting: number;
}

declare module "fastify" {
  interface FastifyInstance {
    wrongLogins: WrongLogins;
  }
}

/** The right token is never kept waiting: it is looked at first, and nothing of this is asked. */
export class WrongLogins {
  readonly #clock: Clock;
  readonly #guesses = new Map<string, Guesses>();
  #recent: { since: number; count: number } = { since: 0, count: 0 };
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#guesses.size;
  }

  /** Notes a wrong guess, and waits as long as its answer is to wait. Throws `too_many_logins`. */
  async slowDown(address: string): Promise<void> {
    const guesses = this.#note(networkOf(address));
    const waitMs = this.#waitMs(guesses);
    if (waitMs === 0) return;
    if (this.#waiting >= MOST_WAITING || guesses.waiting >= MOST_WAITING_OF_ONE)
      throw new ApiProblem("too_many_logins", "too many wrong tokens were shown in a short time", {
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
    const [oldest] = this.#guesses.keys();
    if (this.#guesses.size > MOST_ADDRESSES && oldest !== undefined) this.#guesses.delete(oldest);
    if (now - this.#recent.since > MINUTE_MS) this.#recent = { since: now, count: 0 };
    this.#recent.count += 1;
    return guesses;
  }

  #waitMs({ count }: Guesses): number {
    const over = Math.max(count - FREE, this.#recent.count - MOST_IN_ALL);
    return over <= 0 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(over - 1, 20));
  }
}

/** Of IPv6 the first half: who has an address has all of its network. */
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
