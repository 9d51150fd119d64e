/**
 * What begins something is begun once, however often its button is pressed: a call like one that is under way, or was
 * answered a moment ago, is that call. When no answer came, the next try names itself by the same key, and the server
 * does not do it again.
 */
export interface OnceDeps {
  newKey: () => string;
  /** Whether this failure leaves open if the call was done. */
  isUnknown: (error: unknown) => boolean;
  /** A double click is over. */
  later: (work: () => void) => void;
}

interface Order {
  key: string;
  /** null: no answer came. */
  answer: Promise<unknown> | null;
}

export class Once {
  readonly #deps: OnceDeps;
  readonly #orders = new Map<string, Order>();

  constructor(deps: OnceDeps) {
    this.#deps = deps;
  }

  /** `what` is all that tells calls apart. */
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
