/** Rules of `filter`, and the reasons for dropping an item. */
import type { FieldError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { TextQuality } from "../../texts/quality.ts";

/** Which rule compares which measure, with the reason; the order in which they apply. */
const RULES = {
  min_words: { of: "words", reason: "too_few_words", about: "Least number of words." },
  max_words: { of: "words", reason: "too_many_words", about: "Largest number of words." },
  min_characters: { of: "characters", reason: "too_few_characters", about: "Least number of characters." },
  max_characters: { of: "characters", reason: "too_many_characters", about: "Largest number of characters." },
  min_mean_word_length: { of: "mean_word_length", reason: "words_too_short", about: "Least mean length of words." },
  max_mean_word_length: { of: "mean_word_length", reason: "words_too_long", about: "Largest mean length of words." },
  max_symbol_ratio: { of: "symbol_ratio", reason: "too_many_symbols", about: "Most # and ellipses per word." },
  min_alphabetic_words: {
    of: "alphabetic_words",
    reason: "too_few_alphabetic_words",
    about: "Least share of words with a letter.",
  },
  max_bullet_lines: { of: "bullet_lines", reason: "too_many_bullets", about: "Largest share of lines with a bullet." },
  max_ellipsis_lines: {
    of: "ellipsis_lines",
    reason: "too_many_ellipses",
    about: "Largest share of lines that end in an ellipsis.",
  },
  min_punctuated_lines: {
    of: "punctuated_lines",
    reason: "too_few_punctuated_lines",
    about: "Least share of lines that end in a punctuation mark.",
  },
  max_short_lines: {
    of: "short_lines",
    reason: "too_many_short_lines",
    about: "Largest share of lines of at most 30 characters.",
  },
  max_line_breaks: { of: "line_breaks", reason: "too_many_line_breaks", about: "Most line breaks per word." },
  max_duplicate_lines: { of: "duplicate_lines", reason: "duplicate_lines", about: "Largest share of repeated lines." },
  max_duplicate_line_characters: {
    of: "duplicate_line_characters",
    reason: "duplicate_lines",
    about: "Largest share of characters in repeated lines.",
  },
  max_duplicate_paragraphs: {
    of: "duplicate_paragraphs",
    reason: "duplicate_paragraphs",
    about: "Largest share of repeated paragraphs.",
  },
  max_duplicate_paragraph_characters: {
    of: "duplicate_paragraph_characters",
    reason: "duplicate_paragraphs",
    about: "Largest share of characters in repeated paragraphs.",
  },
  max_top_2_gram: { of: "top_2_gram", reason: "repeated_phrase", about: topAbout(2) },
  max_top_3_gram: { of: "top_3_gram", reason: "repeated_phrase", about: topAbout(3) },
  max_top_4_gram: { of: "top_4_gram", reason: "repeated_phrase", about: topAbout(4) },
  max_duplicate_5_grams: { of: "duplicate_5_grams", reason: "repeated_phrases", about: duplicatesAbout(5) },
  max_duplicate_6_grams: { of: "duplicate_6_grams", reason: "repeated_phrases", about: duplicatesAbout(6) },
  max_duplicate_7_grams: { of: "duplicate_7_grams", reason: "repeated_phrases", about: duplicatesAbout(7) },
  max_duplicate_8_grams: { of: "duplicate_8_grams", reason: "repeated_phrases", about: duplicatesAbout(8) },
  max_duplicate_9_grams: { of: "duplicate_9_grams", reason: "repeated_phrases", about: duplicatesAbout(9) },
  max_duplicate_10_grams: { of: "duplicate_10_grams", reason: "repeated_phrases", about: duplicatesAbout(10) },
} as const satisfies Record<string, { of: keyof TextQuality; reason: string; about: string }>;

function topAbout(size: number): string {
  return `Largest share of characters in the most frequent ${size} words in a row.`;
}

function duplicatesAbout(size: number): string {
  return `Largest share of characters in repeated runs of ${size} words.`;
}

type QualityRule = keyof typeof RULES;
export type QualityLimits = { [Rule in QualityRule]?: number | null };
const NAMES = Object.keys(RULES) as QualityRule[];

/** The published limits. Both need a text of running words; poems, code and tables do not pass. */
export const PRESETS = {
  gopher: {
    min_words: 50,
    max_words: 100_000,
    min_mean_word_length: 3,
    max_mean_word_length: 10,
    max_symbol_ratio: 0.1,
    min_alphabetic_words: 0.8,
    max_bullet_lines: 0.9,
    max_ellipsis_lines: 0.3,
    max_duplicate_lines: 0.3,
    max_duplicate_line_characters: 0.2,
    max_duplicate_paragraphs: 0.3,
    max_duplicate_paragraph_characters: 0.2,
    max_top_2_gram: 0.2,
    max_top_3_gram: 0.18,
    max_top_4_gram: 0.16,
    max_duplicate_5_grams: 0.15,
    max_duplicate_6_grams: 0.14,
    max_duplicate_7_grams: 0.13,
    max_duplicate_8_grams: 0.12,
    max_duplicate_9_grams: 0.11,
    max_duplicate_10_grams: 0.1,
  },
  fineweb: {
    min_punctuated_lines: 0.12,
    max_short_lines: 0.67,
    max_duplicate_line_characters: 0.01,
    max_line_breaks: 0.3,
  },
} as const satisfies Record<string, QualityLimits>;
export type Preset = keyof typeof PRESETS;

const isCount = (rule: QualityRule) => RULES[rule].of === "words" || RULES[rule].of === "characters";

export const QUALITY_SCHEMAS: Record<string, JsonValue> = Object.fromEntries(
  NAMES.map((rule) => [
    rule,
    { type: [isCount(rule) ? "integer" : "number", "null"], minimum: 0, description: RULES[rule].about },
  ]),
);

/** Bounds with minimum above maximum. */
export function faultsOfLimits(limits: Readonly<Record<string, JsonValue>>): FieldError[] {
  return NAMES.flatMap((rule) => {
    const [least, most] = [limits[rule], limits[rule.replace("min_", "max_")]];
    if (!rule.startsWith("min_") || typeof least !== "number" || typeof most !== "number" || least <= most) return [];
    return [
      {
        path: `params.${rule}`,
        message: `must not be greater than ${rule.replace("min_", "max_")} (${most}): no text would match`,
      },
    ];
  });
}

/** Rules of the presets that no good text in a script without spaces meets: Thai has no full stop. */
const SPACED_ONLY: ReadonlySet<QualityRule> = new Set([
  "min_mean_word_length",
  "max_mean_word_length",
  "min_punctuated_lines",
]);

/** Most of its words are single characters of a script without spaces. */
export function isSpaceless({ spaceless_words }: TextQuality): boolean {
  return spaceless_words > 0.5;
}

/**
 * The limits of the presets, the strictest of each; limits that are set replace them, and null means none. `spaceless`:
 * for texts in scripts without spaces.
 */
export function limitsOf(presets: readonly Preset[], own: QualityLimits, spaceless: boolean): QualityLimits {
  const limits: QualityLimits = {};
  for (const preset of presets)
    for (const [rule, limit] of Object.entries(PRESETS[preset]) as [QualityRule, number][]) {
      if (spaceless && SPACED_ONLY.has(rule)) continue;
      const other = limits[rule];
      const stricter = rule.startsWith("min_") ? Math.max : Math.min;
      limits[rule] = typeof other === "number" ? stricter(other, limit) : limit;
    }
  for (const rule of NAMES) if (own[rule] !== undefined) limits[rule] = own[rule];
  return limits;
}

/** The first rule that a text breaks; null: none. */
export function brokenRule(
  quality: TextQuality,
  limits: QualityLimits,
): { rule: QualityRule; reason: string; value: number } | null {
  for (const rule of NAMES) {
    const limit = limits[rule];
    if (limit === undefined || limit === null) continue;
    const { of, reason } = RULES[rule];
    const value = quality[of];
    if (rule.startsWith("min_") ? value < limit : value > limit) return { rule, reason, value };
  }
  return null;
}

/** Every reason, with its meaning for the reference page. */
export const FILTER_REASONS: Readonly<Record<string, string>> = {
  no_text: "there is no text at the path `text`",
  ...Object.fromEntries(
    [...Map.groupBy(NAMES, (rule) => RULES[rule].reason)].map(([reason, rules]) => [
      reason,
      `breaks ${rules.map((rule) => `\`${rule}\``).join(" or ")}`,
    ]),
  ),
  language_unknown: "`languages` is set, and the language could not be determined",
  language_not_wanted: "its language is not in `languages`",
  condition_not_met: "it does not meet `where`",
  expression_error: "an expression of `expressions` cannot be evaluated for it",
};
