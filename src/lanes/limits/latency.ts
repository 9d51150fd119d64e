/** Number of answers that establish the latency of an unloaded site. */
const FIRST = 8;
const LEAST_WINDOW = 10;
/** Below this a difference may as well be ours: a busy process hears late of answers. */
const SLACK_MS = 100;
const SLOW = 1.5;
const CALM = 1.2;
const DRIFT = 0.1;

/**
 * Whether a site takes longer than it usually does. The middle of the newest answers is compared with the upper end of
 * the usual ones, so that a site whose times differ from page to page is not taken for a slow one; and a site is
 * compared with itself alone, so that one that always takes two seconds is not slow.
 */
export class Latency {
  #window: number[] = [];
  #timeouts = 0;
  /** Answers to requests that were sent before something changed. */
  #outdated = 0;
  #usual: number | null = null;
  #last = 0;
  /** Nothing speaks against more at once. */
  isCalm = true;

  /** How long it takes with little to do has been seen. */
  get isKnown(): boolean {
    return this.#usual !== null;
  }

  /** Adds an answer, or null for a timeout. True: the site is slow; reported once per window. */
  add(ms: number | null, { atOnce, isEased }: { atOnce: number; isEased: boolean }): boolean {
    if (this.#outdated > 0) {
      this.#outdated -= 1;
      return false;
    }
    if (ms === null) this.#timeouts += 1;
    else this.#window.push(ms);
    const size = this.#usual === null ? FIRST : Math.max(LEAST_WINDOW, 2 * atOnce);
    if (this.#window.length + this.#timeouts < size) return false;
    const times = this.#window.toSorted((a, b) => a - b);
    const late = this.#timeouts > size / 10;
    this.startOver(0);
    if (times.length > 0) return this.#judge(times, late, isEased);
    this.isCalm = false;
    return true;
  }

  /** Answers to earlier requests say nothing about the current latency. */
  startOver(underWay: number): void {
    this.#window = [];
    this.#timeouts = 0;
    this.#outdated = underWay;
  }

  acceptAsUsual(): void {
    if (this.#last > 0) this.#usual = this.#last;
  }

  #judge(times: readonly number[], late: boolean, isEased: boolean): boolean {
    const middle = times[Math.floor(times.length / 2)]!;
    const high = times[Math.floor(times.length * 0.8)]!;
    this.#last = high;
    const usual = (this.#usual ??= times.at(-1)!);
    const slow = late || middle > usual * SLOW + SLACK_MS;
    this.isCalm = !slow && middle <= usual * CALM + SLACK_MS;
    // While concurrency is reduced, the baseline does not rise: it would follow the load step by step.
    if (!slow && (!isEased || high < usual)) this.#usual = usual + (high - usual) * DRIFT;
    return slow;
  }
}
