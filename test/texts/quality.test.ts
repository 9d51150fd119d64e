import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { measureText } from "../../src/texts/quality.ts";
import fc from "../support/properties.ts";

const close = (value: number, expected: number) =>
  assert.ok(Math.abs(value - expected) < 1e-3, `${value} ≠ ${expected}`);

describe("the quality of a text", () => {
  it("counts words and characters, also where no spaces are between words", () => {
    const { words, characters, mean_word_length: mean } = measureText("Don't stop: e-mail 2 people 😀");
    assert.deepEqual([words, characters], [5, 29]);
    close(mean, (5 + 4 + 6 + 1 + 6) / 5);
    assert.equal(measureText("春眠不覺曉").words, 5);
    assert.equal(measureText("").words, 0);
  });

  it("has the shares of repeated lines and paragraphs, and of their characters", () => {
    const quality = measureText("one line\nanother\none line\n\nlast one\n\nlast one");
    close(quality.duplicate_lines, 2 / 5);
    close(quality.duplicate_line_characters, 16 / 39);
    close(quality.duplicate_paragraphs, 1 / 3);
    close(quality.duplicate_paragraph_characters, 8 / 41);
  });

  it("has the share of the most frequent run of words, and of repeated runs", () => {
    const quality = measureText("ab cd ef ab cd gh ab cd");
    close(quality.top_2_gram, (3 * 4) / 16);
    assert.equal(quality.top_3_gram, 0);
    const five = "one two three four five";
    close(measureText(`${five} six ${five}`).duplicate_5_grams, 19 / 41);
    assert.equal(measureText("each of these words stands here only once").top_2_gram, 0);
  });

  it("tells words apart by all their parts", () => {
    const dates = Array.from({ length: 28 }, (_, day) => `2024-01-${String(day + 1).padStart(2, "0")}`);
    const quality = measureText(dates.join(" "));
    assert.deepEqual([quality.words, quality.top_2_gram, quality.duplicate_5_grams], [28, 0, 0]);
    assert.equal(measureText("l'homme l'eau l'air l'or l'an").top_2_gram, 0);
    assert.ok(measureText("l'homme l'eau l'homme l'eau").top_2_gram > 0);
  });

  it("counts single characters of scripts without spaces, and ignores invisible ones", () => {
    for (const text of ["春眠不覺曉", "ภาษาไทย", "ភាសាខ្មែរ", "ພາສາລາວ", "မြန်မာ", "བོད"])
      assert.equal(measureText(text).spaceless_words, 1, text);
    assert.equal(measureText("plain words").spaceless_words, 0);
    assert.equal(measureText("co\u00adop\ufefferate \u200b").words, 1);
    assert.equal(measureText("co\u00adop\ufefferate").mean_word_length, 9);
  });

  it("is that of the first two million characters of a longer text", () => {
    const text = `${"word ".repeat(400_000)}${"other ".repeat(100_000)}`;
    const { words, characters } = measureText(text);
    assert.deepEqual([words, characters], [400_000, 2_600_000]);
  });

  it("has the shares of symbols, alphabetic words, bullets, ellipses, marks and short lines", () => {
    const quality = measureText(
      "# Menu\n- item 1\n• item 2\nRead on…\nThis line is long enough, and it ends with a mark.",
    );
    close(quality.symbol_ratio, 2 / 18);
    close(quality.alphabetic_words, 16 / 18);
    close(quality.bullet_lines, 2 / 5);
    close(quality.ellipsis_lines, 1 / 5);
    close(quality.punctuated_lines, 2 / 5);
    close(quality.short_lines, 4 / 5);
    close(quality.line_breaks, 4 / 18);
  });

  it("is a number for every text, and each share is from 0 to 1", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.lorem({ maxCount: 60 })), (text) => {
        const { words, characters, mean_word_length, symbol_ratio, line_breaks, ...shares } = measureText(text);
        for (const value of [words, characters, mean_word_length, symbol_ratio, line_breaks])
          assert.ok(Number.isFinite(value) && value >= 0);
        for (const [name, value] of Object.entries(shares)) assert.ok(value >= 0 && value <= 1, `${name}: ${value}`);
      }),
    );
  });
});
