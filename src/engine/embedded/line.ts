interface QueuedLane {
  name: string;
  place: number;
  came: number;
}

/** Lanes that wait for a turn, the lowest place first; of those with the same place, whoever came first. */
export class Line {
  readonly #standing: QueuedLane[] = [];

  get length(): number {
    return this.#standing.length;
  }

  get first(): Readonly<QueuedLane> | undefined {
    return this.#standing[0];
  }

  /** `came`: a number that grows with everyone who comes. */
  add(name: string, place: number, came: number): void {
    this.#standing.splice(this.#find(place, came), 0, { name, place, came });
  }

  shift(): string | undefined {
    return this.#standing.shift()?.name;
  }

  move(from: number, to: number, came: number): void {
    const [one] = this.#standing.splice(this.#find(from, came), 1);
    if (one !== undefined) this.add(one.name, to, came);
  }

  /** Where whoever has this place stands, or would. */
  #find(place: number, came: number): number {
    let [low, high] = [0, this.#standing.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#standing[middle] as QueuedLane, { place, came })) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function isBefore(a: Omit<QueuedLane, "name">, b: Omit<QueuedLane, "name">): boolean {
  return a.place < b.place || (a.place === b.place && a.came < b.came);
}
