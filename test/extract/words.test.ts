import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords } from "../../src/extract/article/article.ts";
import { detectLanguage } from "../../src/extract/article/language.ts";
import {
  countLongWords,
  INNER,
  kindOf,
  LETTER,
  LongWords,
  longWords,
  NUMBER,
} from "../../src/extract/article/letters.ts";
import { PairNumbers } from "../../src/extract/main-content/boxes.ts";
import { measure, measureLength } from "../../src/extract/main-content/text-measure.ts";
import fc from "../support/properties.ts";

const PIECES = [
  ..." \n.,'’_-aZé5ßµ½²ªЖ中あ한ไ\u0301\u200d\u00adﬀ😀𝒜\ud800",
  "word",
  "l’été",
  "naïve",
  "don't",
  "x_y",
  "日本",
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((parts) => parts.join(""));

test("words are counted, and long ones found, as their definitions say", () => {
  const any =
    /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu;
  const spaced = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu;
  fc.assert(
    fc.property(text, (page) => {
      const words = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]/.test(page) ? any : spaced;
      assert.equal(countWords(page), page.match(words)?.length ?? 0);
      assert.deepEqual(longWords(page), [...(page.match(/[\p{L}\p{N}]{4,}/gu) ?? [])]);
    }),
  );
});

test("words of a title are counted in a text", () => {
  fc.assert(
    fc.property(text, text, (page, title) => {
      const wanted = new LongWords(longWords(title));
      const all = longWords(page);
      const found = all.filter((word) => longWords(title).includes(word));
      assert.deepEqual(countLongWords(page, wanted), { all: all.length, found: found.length });
    }),
  );
});

test("a text is measured in one pass", () => {
  const about = (page: string) => {
    const { words, chars, digits, upper, commas, sentences, ended } = measure(page);
    return [words, chars, digits, upper, commas, sentences, ended];
  };
  assert.deepEqual(about("Hi, it costs $5.50. Really?"), [5, 23, 3, 2, 1, 2, true]);
  assert.deepEqual(about("日本語、です。"), [5, 7, 0, 0, 1, 1, true]);
  assert.deepEqual(about(" \u00a0\n"), [0, 0, 0, 0, 0, 0, false]);
  fc.assert(
    fc.property(text, (page) => {
      const spaced = page.replace(/[ \t\n\v\f\r\u00a0]+/g, " ").trim();
      assert.equal(measureLength(page).length, /[^ ]/.test(spaced) ? spaced.length : 0);
      assert.equal(measure(page).chars, page.replace(/[ \t\n\v\f\r\u00a0]/g, "").length);
    }),
  );
});

test("each pair of numbers has a number of its own, however many there are", () => {
  const numbers = new PairNumbers();
  const seen = new Map<number, string>();
  for (let round = 0; round < 2; round += 1) {
    for (let first = 0; first < 60; first += 1) {
      for (let second = 0; second < 60; second += 1) {
        const number = numbers.of(first, second);
        assert.equal(seen.get(number) ?? `${first} ${second}`, `${first} ${second}`);
        seen.set(number, `${first} ${second}`);
      }
    }
  }
  assert.equal(seen.size, 3600);
});

test("every character is what Unicode says", () => {
  for (let code = 0; code < 0xd800; code += 7) {
    const char = String.fromCharCode(code);
    const expected = /\p{L}/u.test(char)
      ? LETTER
      : /\p{N}/u.test(char)
        ? NUMBER
        : /[\p{M}'’_-]/u.test(char)
          ? INNER
          : 0;
    assert.equal(kindOf(code) & (LETTER | NUMBER | INNER), expected, `U+${code.toString(16)}`);
  }
});

test("the language of a text is that of its common words, or of its script", () => {
  const said: Record<string, string> = {
    en: "It was the best of times, and it was the worst of times for all of us.",
    de: "Die Würde des Menschen ist unantastbar, und sie zu achten ist auch Verpflichtung.",
    fr: "Le ciel est bleu et la mer est calme dans le port pour qui sait attendre.",
    es: "El perro de la casa es grande y no se va por la noche con los gatos del barrio.",
    pl: "To jest dom, w którym mieszkam od lat i który się nie zmienia.",
    ru: "Все счастливые семьи похожи друг на друга.",
    uk: "Її дім стояв біля річки, і вона його любила.",
    ja: "吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ。",
    zh: "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。床前明月光。",
  };
  for (const [language, sentence] of Object.entries(said)) {
    assert.equal(detectLanguage(sentence), language);
    assert.equal(detectLanguage(`${sentence} 😀`), language, "with a character beyond the table");
  }
  assert.equal(detectLanguage("12 34 — 😀"), null);
});
