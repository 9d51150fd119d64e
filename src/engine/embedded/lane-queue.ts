interface QueuedLane {
  name: string;
  position: number;
  arrival: number;
}

/** Lanes that wait for a turn, ordered by position, then by arrival. */
export class LaneQueue {
  readonly #lanes: QueuedLane[] = [];

  get length(): number {
    return this.#lanes.length;
  }

  get first(): Readonly<QueuedLane> | undefined {
    return this.#lanes[0];
  }

  /** `arrival` grows with each lane. */
  add(name: string, position: number, arrival: number): void {
    this.#lanes.splice(this.#find(position, arrival), 0, { name, position, arrival });
  }

  shift(): string | undefined {
    return this.#lanes.shift()?.name;
  }

  move(from: number, to: number, arrival: number): void {
    const [lane] = this.#lanes.splice(this.#find(from, arrival), 1);
    if (lane !== undefined) this.add(lane.name, to, arrival);
  }

  /** The index of the lane with this position and arrival, or where it would be inserted. */
  #find(position: number, arrival: number): number {
    let [low, high] = [0, this.#lanes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#lanes[middle] as QueuedLane, { position, arrival })) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function isBefore(a: Omit<QueuedLane, "name">, b: Omit<QueuedLane, "name">): boolean {
  return a.position < b.position || (a.position === b.position && a.arrival < b.arrival);
}
