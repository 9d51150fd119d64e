export interface Due {
  at: number;
  order: number;
}

/** A binary heap by time, then by order of scheduling: what makes a schedule repeatable. */
export class Agenda<Event extends Due> {
  readonly #heap: Event[] = [];

  get size(): number {
    return this.#heap.length;
  }

  push(event: Event): void {
    const heap = this.#heap;
    heap.push(event);
    let index = heap.length - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(heap[index] as Event, heap[parent] as Event)) break;
      [heap[index], heap[parent]] = [heap[parent] as Event, heap[index] as Event];
      index = parent;
    }
  }

  pop(): Event | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    heap[0] = last;
    let index = 0;
    for (;;) {
      const left = index * 2 + 1;
      let least = index;
      for (const child of [left, left + 1]) {
        if (child < heap.length && before(heap[child] as Event, heap[least] as Event)) least = child;
      }
      if (least === index) return top;
      [heap[index], heap[least]] = [heap[least] as Event, heap[index] as Event];
      index = least;
    }
  }
}

function before(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
