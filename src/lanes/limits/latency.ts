/** Number of answers that establish the latency of an unloaded site. */
const FIRST_WINDOW = 8;
const MIN_WINDOW = 10;
/** A smaller difference may be our own: a busy process notices answers late. */
const SLACK_MS = 100;
const SLOW_FACTOR = 1.5;
const CALM_FACTOR = 1.2;
const BASELINE_DRIFT = 0.1;

/**
 * Whether a site answers more slowly than usual. It compares the median of the newest answers with the upper end of the
 * baseline, so that latency that varies from page to page does not count as slow; each site has its own baseline, so
 * that one that always takes two seconds does not either.
 */
export class Latency {
  #window: number[] = [];
  #timeouts = 0;
  /** Answers to ignore, because their requests were sent before the concurrency changed. */
  #outdated = 0;
  #baseline: number | null = null;
  #lastHigh = 0;
  /** The latency allows more concurrency. */
  isCalm = true;

  /** The latency of the unloaded site is known. */
  get isKnown(): boolean {
    return this.#baseline !== null;
  }

  /** Adds an answer, or null for a timeout. True: the site is slow; reported once per window. */
  add(ms: number | null, { atOnce, isReduced }: { atOnce: number; isReduced: boolean }): boolean {
    if (this.#outdated > 0) {
      this.#outdated -= 1;
      return false;
    }
    if (ms === null) this.#timeouts += 1;
    else this.#window.push(ms);
    const size = this.#baseline === null ? FIRST_WINDOW : Math.max(MIN_WINDOW, 2 * atOnce);
    if (this.#window.length + this.#timeouts < size) return false;
    const times = this.#window.toSorted((a, b) => a - b);
    const late = this.#timeouts > size / 10;
    this.startOver(0);
    if (times.length > 0) return this.#judge(times, late, isReduced);
    this.isCalm = false;
    return true;
  }

  /** Answers to earlier requests say nothing about the current latency. */
  startOver(inFlight: number): void {
    this.#window = [];
    this.#timeouts = 0;
    this.#outdated = inFlight;
  }

  acceptAsBaseline(): void {
    if (this.#lastHigh > 0) this.#baseline = this.#lastHigh;
  }

  #judge(times: readonly number[], late: boolean, isReduced: boolean): boolean {
    const median = times[Math.floor(times.length / 2)]!;
    const high = times[Math.floor(times.length * 0.8)]!;
    this.#lastHigh = high;
    const baseline = (this.#baseline ??= times.at(-1)!);
    const slow = late || median > baseline * SLOW_FACTOR + SLACK_MS;
    this.isCalm = !slow && median <= baseline * CALM_FACTOR + SLACK_MS;
    // While concurrency is reduced, the baseline does not rise: it would follow the load step by step.
    if (!slow && (!isReduced || high < baseline)) this.#baseline = baseline + (high - baseline) * BASELINE_DRIFT;
    return slow;
  }
}
