/**
 * Globs over URLs. `*` matches characters within one path segment, or within one query parameter; `**` matches across
 * segments and parameters; `{a,b}` matches either; everything else, `?` included, is literal. A glob is compiled to an NFA
 * whose states are followed in parallel: every character of a URL is read once, so no glob and no URL can make it slow.
 * Transitions between state sets are cached, as in a lazy DFA.
 */

type Item =
  | { kind: "character"; code: number }
  | { kind: "star" }
  | { kind: "stars" }
  | { kind: "either"; of: readonly Item[][] };

interface Glob {
  /** Whether the glob matches the whole text. */
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
      // Skips the { or the comma.
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

  /** `**` also matches no segment at all, between slashes and at the end. */
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

/** A set of NFA states, with cached transitions by character. */
interface StateSet {
  readonly states: readonly number[];
  readonly isEnd: boolean;
  readonly inPath: Map<number, StateSet>;
  readonly inQuery: Map<number, StateSet>;
}

/** Cached sets; few globs have more than a dozen. Further ones are computed each time. */
const MAX_CACHED = 500;

class Automaton implements Glob {
  readonly #prefix: string;
  /** What each state expects: a character code, or one of the constants above. */
  readonly #expects: number[] = [];
  readonly #next: number[] = [];
  /** Further successors of a SPLIT. */
  readonly #others: number[][] = [];
  readonly #cached = new Map<string, StateSet>();
  readonly #initial: StateSet;

  constructor(items: readonly Item[], prefix: string) {
    this.#prefix = prefix;
    const start = this.#sequence(items, this.#state(END, 0));
    const entered = new Set<number>();
    this.#enter(start, entered);
    this.#initial = this.#stateSet(entered);
  }

  #state(expects: number, next: number, others: number[] = []): number {
    this.#expects.push(expects);
    this.#next.push(next);
    this.#others.push(others);
    return this.#expects.length - 1;
  }

  /** Built backwards: every state knows its successor. */
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
    let current = this.#initial;
    for (let at = this.#prefix.length; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const known = at > queryAt ? current.inQuery : current.inPath;
      current = known.get(code) ?? this.#follow(current, code, at > queryAt);
      if (current.states.length === 0) return false;
    }
    return current.isEnd;
  }

  #follow(current: StateSet, code: number, inQuery: boolean): StateSet {
    const entered = new Set<number>();
    for (const state of current.states) {
      const expects = this.#expects[state] as number;
      if (expects >= 0) {
        if (expects === code) this.#enter(this.#next[state] as number, entered);
      } else if (expects === STAR) {
        if (inQuery ? code !== AMPERSAND : code !== SLASH && code !== QUESTION) this.#enter(state, entered);
      } else if (expects === STARS && (inQuery || code !== QUESTION)) this.#enter(state, entered);
    }
    const next = this.#stateSet(entered);
    if (this.#cached.size < MAX_CACHED) (inQuery ? current.inQuery : current.inPath).set(code, next);
    return next;
  }

  /** Adds a state and its epsilon closure. */
  #enter(state: number, entered: Set<number>): void {
    if (entered.has(state)) return;
    entered.add(state);
    const expects = this.#expects[state] as number;
    if (expects !== STAR && expects !== STARS && expects !== SPLIT) return;
    this.#enter(this.#next[state] as number, entered);
    for (const other of this.#others[state] as number[]) this.#enter(other, entered);
  }

  #stateSet(entered: ReadonlySet<number>): StateSet {
    const states = [...entered].filter((state) => this.#expects[state] !== SPLIT).sort((a, b) => a - b);
    const name = states.join();
    let current = this.#cached.get(name);
    if (current === undefined) {
      const isEnd = states.some((state) => this.#expects[state] === END);
      current = { states, isEnd, inPath: new Map(), inQuery: new Map() };
      if (this.#cached.size < MAX_CACHED) this.#cached.set(name, current);
    }
    return current;
  }
}
