/**
 * Globs over URLs. `*` is a run of characters within one segment of the path, or within one parameter once the query
 * has begun; `**` runs across segments and parameters; `{a,b}` is either; everything else, `?` included, is itself.
 * A glob becomes a small automaton whose states are all followed at once: every character of a URL is looked at once,
 * whatever the glob, so no glob and no URL can make it slow. Which states follow which is remembered.
 */

type Item =
  | { kind: "character"; code: number }
  | { kind: "star" }
  | { kind: "stars" }
  | { kind: "either"; of: readonly Item[][] };

interface Glob {
  /** Whether the whole text is what the glob describes. */
  matches(text: string): boolean;
}

/** Throws an Error that says what is wrong with the glob. */
export function compileGlob(source: string): Glob {
  const items = new Reader(source).read();
  const prefix = literalPrefix(items);
  return new Automaton(items.slice(prefix.length), prefix);
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Item[] {
    const items = this.#sequence(0);
    if (this.#at < this.#source.length) throw new Error("has a } without a { before it");
    return items;
  }

  #sequence(depth: number): Item[] {
    const items: Item[] = [];
    while (this.#at < this.#source.length) {
      const char = this.#source.charAt(this.#at);
      if (char === "}" || (char === "," && depth > 0)) return items;
      if (char === "{") items.push(this.#either(depth + 1));
      else if (char === "*") items.push(this.#stars() > 1 ? { kind: "stars" } : { kind: "star" });
      else if (char === "/" && this.#source.startsWith("**", this.#at + 1)) items.push(...this.#slashAndStars());
      else {
        items.push(character(char));
        this.#at += 1;
      }
    }
    return items;
  }

  #either(depth: number): Item {
    if (depth > 20) throw new Error("has { } nested more than 20 levels deep");
    const of: Item[][] = [];
    do {
      // Over the { or the comma.
      this.#at += 1;
      of.push(this.#sequence(depth));
    } while (this.#source.charAt(this.#at) === ",");
    if (this.#at >= this.#source.length) throw new Error("has a { without a } after it");
    this.#at += 1;
    return { kind: "either", of };
  }

  #stars(): number {
    const from = this.#at;
    while (this.#source.charAt(this.#at) === "*") this.#at += 1;
    return this.#at - from;
  }

  /** No segment at all is a run of segments as well: stars between slashes may be nothing, and so may stars at the end. */
  #slashAndStars(): Item[] {
    this.#at += 1;
    this.#stars();
    const next = this.#source.charAt(this.#at);
    if (next === "/") {
      this.#at += 1;
      return [character("/"), { kind: "either", of: [[], [{ kind: "stars" }, character("/")]] }];
    }
    if (next === "" || next === "?" || next === "," || next === "}") {
      return [{ kind: "either", of: [[], [character("/"), { kind: "stars" }]] }];
    }
    return [character("/"), { kind: "stars" }];
  }
}

function character(char: string): Item {
  return { kind: "character", code: char.charCodeAt(0) };
}

function literalPrefix(items: readonly Item[]): string {
  let prefix = "";
  for (const item of items) {
    if (item.kind !== "character") break;
    prefix += String.fromCharCode(item.code);
  }
  return prefix;
}

const END = -1;
const STAR = -2;
const STARS = -3;
const SPLIT = -4;

const SLASH = 47;
const QUESTION = 63;
const AMPERSAND = 38;

/** A set of states that was met, and which set follows it for each character. */
interface Met {
  readonly states: readonly number[];
  readonly isEnd: boolean;
  readonly inPath: Map<number, Met>;
  readonly inQuery: Map<number, Met>;
}

/** Sets that are remembered; few globs have more than a dozen. Beyond that they are worked out again each time. */
const MOST_MET = 500;

class Automaton implements Glob {
  readonly #prefix: string;
  /** What a state waits for: a character code, or one of the signs above. */
  readonly #waits: number[] = [];
  readonly #next: number[] = [];
  /** The other ways out of a SPLIT. */
  readonly #others: number[][] = [];
  readonly #met = new Map<string, Met>();
  readonly #first: Met;

  constructor(items: readonly Item[], prefix: string) {
    this.#prefix = prefix;
    const start = this.#sequence(items, this.#state(END, 0));
    const entered = new Set<number>();
    this.#enter(start, entered);
    this.#first = this.#meet(entered);
  }

  #state(waits: number, next: number, others: number[] = []): number {
    this.#waits.push(waits);
    this.#next.push(next);
    this.#others.push(others);
    return this.#waits.length - 1;
  }

  /** Built from its end: every state knows the one after it. */
  #sequence(items: readonly Item[], after: number): number {
    let next = after;
    for (const item of items.toReversed()) {
      if (item.kind === "character") next = this.#state(item.code, next);
      else if (item.kind === "star") next = this.#state(STAR, next);
      else if (item.kind === "stars") next = this.#state(STARS, next);
      else {
        const ways = item.of.map((way) => this.#sequence(way, next));
        next = this.#state(SPLIT, ways[0] as number, ways.slice(1));
      }
    }
    return next;
  }

  matches(text: string): boolean {
    if (!text.startsWith(this.#prefix)) return false;
    const found = text.indexOf("?");
    const queryAt = found < 0 ? text.length : found;
    let met = this.#first;
    for (let at = this.#prefix.length; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const known = at > queryAt ? met.inQuery : met.inPath;
      met = known.get(code) ?? this.#follow(met, code, at > queryAt);
      if (met.states.length === 0) return false;
    }
    return met.isEnd;
  }

  #follow(met: Met, code: number, inQuery: boolean): Met {
    const entered = new Set<number>();
    for (const state of met.states) {
      const waits = this.#waits[state] as number;
      if (waits >= 0) {
        if (waits === code) this.#enter(this.#next[state] as number, entered);
      } else if (waits === STAR) {
        if (inQuery ? code !== AMPERSAND : code !== SLASH && code !== QUESTION) this.#enter(state, entered);
      } else if (waits === STARS && (inQuery || code !== QUESTION)) this.#enter(state, entered);
    }
    const next = this.#meet(entered);
    if (this.#met.size < MOST_MET) (inQuery ? met.inQuery : met.inPath).set(code, next);
    return next;
  }

  /** Also enters what can be reached from there without a character; nothing is entered twice. */
  #enter(state: number, entered: Set<number>): void {
    if (entered.has(state)) return;
    entered.add(state);
    const waits = this.#waits[state] as number;
    if (waits !== STAR && waits !== STARS && waits !== SPLIT) return;
    this.#enter(this.#next[state] as number, entered);
    for (const other of this.#others[state] as number[]) this.#enter(other, entered);
  }

  #meet(entered: ReadonlySet<number>): Met {
    const states = [...entered].filter((state) => this.#waits[state] !== SPLIT).sort((a, b) => a - b);
    const name = states.join();
    let met = this.#met.get(name);
    if (met === undefined) {
      const isEnd = states.some((state) => this.#waits[state] === END);
      met = { states, isEnd, inPath: new Map(), inQuery: new Map() };
      if (this.#met.size < MOST_MET) this.#met.set(name, met);
    }
    return met;
  }
}
