/**
 * Sends each submission once, however often its button is pressed: a call equal to one in flight, or answered a moment
 * ago, shares its response. After a failure without a response, the next attempt reuses the idempotency key.
 */
interface SubmitOnceDeps {
  newKey: () => string;
  /** Whether this failure leaves open if the call was executed. */
  isUnknown: (error: unknown) => boolean;
  /** Runs when a double click is over. */
  later: (work: () => void) => void;
}

interface Order {
  key: string;
  /** Null: no response. */
  answer: Promise<unknown> | null;
}

export class SubmitOnce {
  readonly #deps: SubmitOnceDeps;
  readonly #orders = new Map<string, Order>();

  constructor(deps: SubmitOnceDeps) {
    this.#deps = deps;
  }

  /** `what` identifies the call. */
  do<Answer>(what: string, send: (key: string) => Promise<Answer>): Promise<Answer> {
    const order = this.#orders.get(what) ?? { key: this.#deps.newKey(), answer: null };
    this.#orders.set(what, order);
    order.answer ??= this.#send(what, order, send);
    return order.answer as Promise<Answer>;
  }

  async #send<Answer>(what: string, order: Order, send: (key: string) => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await send(order.key);
      this.#deps.later(() => this.#orders.delete(what));
      return answer;
    } catch (error) {
      order.answer = null;
      if (!this.#deps.isUnknown(error)) this.#orders.delete(what);
      throw error;
    }
  }
}
