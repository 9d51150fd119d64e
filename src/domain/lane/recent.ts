import { standalone } from "../text/standalone.ts";

/** A bounded map in two generations: when it is full, the older half is dropped. */
export class Recent<Value> {
  readonly #capacity: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, value: Value): void {
    // An existing key takes no further room.
    if (this.#young.size >= this.#capacity / 2 && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}

/** The same with two keys, bounded in the characters of the keys as well. Keys may be parts of longer strings. */
export class RecentByGroup<Value> {
  readonly #most: { entries: number; characters: number };
  #young = new Map<string, Map<string, Value>>();
  #old = new Map<string, Map<string, Value>>();
  #entries = 0;
  #characters = 0;

  constructor(most: { entries: number; characters: number }) {
    this.#most = most;
  }

  get(group: string, key: string): Value | undefined {
    const value = this.#young.get(group)?.get(key);
    return value !== undefined ? value : this.#old.get(group)?.get(key);
  }

  /** `more`: characters of the value. */
  set(group: string, key: string, value: Value, more = 0): void {
    if (this.#entries >= this.#most.entries / 2 || this.#characters >= this.#most.characters / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      [this.#entries, this.#characters] = [0, 0];
    }
    let keys = this.#young.get(group);
    if (keys === undefined) {
      this.#young.set(standalone(group), (keys = new Map()));
      this.#characters += group.length;
    }
    const before = keys.size;
    keys.set(standalone(key), value);
    if (keys.size === before) return;
    this.#entries += 1;
    this.#characters += key.length + more;
  }
}
