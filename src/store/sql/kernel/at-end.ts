import type { Collector, Connection } from "./connection.ts";

type AnyCollector = Collector<never>;

/** What a transaction has collected to write at its end. */
export class AtEnd {
  readonly #items = new Map<AnyCollector, unknown[]>();

  add<Item>(collector: Collector<Item>, item: Item): void {
    const items = this.#items.get(collector as unknown as AnyCollector);
    if (items === undefined) this.#items.set(collector as unknown as AnyCollector, [item]);
    else items.push(item);
  }

  /** Returns a function that drops what is added from now on. */
  savepoint(): () => void {
    const lengths = new Map([...this.#items].map(([collector, items]) => [collector, items.length]));
    return () => {
      for (const [collector, items] of this.#items) items.length = lengths.get(collector) ?? 0;
    };
  }

  /** A collector may add to those after it. */
  write(connection: Connection): void {
    for (let next = this.#first(); next !== undefined; next = this.#first()) {
      const [collector, items] = next;
      this.#items.delete(collector);
      if (items.length > 0) collector.write(connection, items as never[]);
    }
  }

  #first(): [AnyCollector, unknown[]] | undefined {
    return [...this.#items].toSorted(([a], [b]) => a.rank - b.rank)[0];
  }

  clear(): void {
    this.#items.clear();
  }
}
