/** The marks of list items: a line may also begin with a date, an abbreviation or a number of its sentence. */

export interface ListMark {
  /** In characters, without the spaces around it. */
  length: number;
  /** Bullets that are written for nothing else. */
  isSure: boolean;
  /** What the mark may say; empty: it is a bullet. `i.` is 1 or 9. */
  numbers: readonly { series: string; value: number }[];
}

/** With the private characters of fonts for symbols. */
const BULLET = /^[•◦▪▫●○■□‣⁃∙·–—*\ue000-\uf8ff-]\s*(?=\S)/u;
const NUMBER = /^(\d{1,3}|[a-z]|[ivx]{1,5})([.)])\s*(?=\S)/;

/** `text` without spaces before it. */
export function markOf(text: string): ListMark | null {
  const bullet = BULLET.exec(text);
  const isDash = /^[–—*·-]/.test(text);
  // A dash or a star is a mark only before a space, and not before a number.
  if (bullet !== null && (!isDash || /^[–—*·-]\s+(?!\d)/.test(text)))
    return { length: bullet[0].trimEnd().length, isSure: !isDash, numbers: [] };
  const match = NUMBER.exec(text);
  // 1.5 is a number, and a name may begin with an initial.
  if (match === null || /^\d+\.\d/.test(text) || /^[a-z]\.\s*[a-z]\./i.test(text)) return null;
  return { length: match[0].trimEnd().length, isSure: false, numbers: numbersOf(match[1]!, match[2]!) };
}

function numbersOf(word: string, end: string): ListMark["numbers"] {
  if (/^\d/.test(word)) return [{ series: `1${end}`, value: Number(word) }];
  const letter = word.length === 1 ? [{ series: `a${end}`, value: word.charCodeAt(0) - 96 }] : [];
  const roman = /^x{0,3}(?:ix|iv|v?i{0,3})$/.test(word) ? [{ series: `i${end}`, value: romanValue(word) }] : [];
  return [...roman, ...letter];
}

function romanValue(word: string): number {
  const values: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10 };
  return [...word].reduce((sum, letter, index) => {
    const value = values[letter]!;
    return sum + (value < (values[word[index + 1] ?? ""] ?? 0) ? -value : value);
  }, 0);
}

/** The numbers of the lists so far; lists go on over columns and pages. */
export class ListNumbers {
  readonly #items = new Map<string, number>();
  /** Of paragraphs that begin like an item: the next one may show that they are a list. */
  readonly #others = new Map<string, number>();

  /** The value, if a list begins with the mark or goes on with it; null: neither. */
  next(mark: ListMark): number | null {
    return this.#read(mark)?.value ?? null;
  }

  keep(mark: ListMark): void {
    const known = this.#read(mark);
    if (known !== null) this.#items.set(known.series, known.value);
    else for (const { series, value } of mark.numbers) this.#others.set(series, value);
  }

  #read({ numbers }: ListMark): ListMark["numbers"][number] | null {
    const follows = (known: ReadonlyMap<string, number>) =>
      numbers.find(({ series, value }) => known.get(series) === value - 1);
    return follows(this.#items) ?? numbers.find(({ value }) => value === 1) ?? follows(this.#others) ?? null;
  }
}
