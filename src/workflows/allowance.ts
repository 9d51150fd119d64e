/**
 * A fixed amount that several callers share; a caller that asks for more than is left waits, first come, first served.
 */
export class Allowance {
  #left: number;
  readonly #waiting: { amount: number; go: () => void }[] = [];

  constructor(whole: number) {
    this.#left = whole;
  }

  /** At most the whole may be asked for. Given back when it is disposed. */
  async take(amount: number): Promise<Disposable> {
    if (this.#waiting.length > 0 || amount > this.#left)
      await new Promise<void>((go) => void this.#waiting.push({ amount, go }));
    else this.#left -= amount;
    return { [Symbol.dispose]: () => this.#giveBack(amount) };
  }

  #giveBack(amount: number): void {
    this.#left += amount;
    for (let [next] = this.#waiting; next !== undefined && next.amount <= this.#left; [next] = this.#waiting) {
      this.#waiting.shift();
      this.#left -= next.amount;
      next.go();
    }
  }
}
