/** The benchmark's texts: words as frequent as in a language, a tenth exact copies and a fifth altered ones. */
const WORDS = 200;
const VOCABULARY = 50_000;
/** Originals that copies are made of. */
const KNOWN = 20_000;

export function* corpus(count: number): Generator<string> {
  let state = 1;
  // xorshift: the same texts each time.
  const number = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const letters = () => String.fromCharCode(97 + (number() % 26));
  const vocabulary = Array.from({ length: VOCABULARY }, () =>
    Array.from({ length: 2 + (number() % 9) }, letters).join(""),
  );
  const word = () => vocabulary[Math.floor(VOCABULARY * (number() / 2 ** 32) ** 3)]!;
  const known: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const like = index % 10 < 3 && known.length > 0 ? known[number() % known.length]! : null;
    const words = like === null ? Array.from({ length: WORDS }, word) : like.split(" ");
    // Up to 12 other words leave a Jaccard similarity of 0.54 and more.
    if (like !== null && index % 10 > 0)
      for (let times = 1 + (number() % 12); times > 0; times -= 1) words[number() % words.length] = word();
    const text = words.join(" ");
    if (like === null && known.length < KNOWN) known.push(text);
    yield text;
  }
}

export const steps = [
  {
    kind: "texts",
    timeout: 3600,
    params: { type: "object", properties: { count: { type: "integer" } } },
    run: (_context: unknown, { count }: { count: number }) => ({
      output: { count },
      items: (function* () {
        let index = 0;
        for (const text of corpus(count)) yield { url: `https://texts.test/${(index += 1)}`, text };
      })(),
    }),
  },
];
