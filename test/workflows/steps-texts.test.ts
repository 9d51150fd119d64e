import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { describe, it } from "node:test";
import { integerBelow, seededRandom } from "../../src/base/random.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { ImageInspector } from "../../src/images/inspector.ts";
import type { Item } from "../../src/workflows/step-kind.ts";
import { deduplicateStep } from "../../src/workflows/steps/deduplicate.ts";
import { filterStep } from "../../src/workflows/steps/filter.ts";
import { type DoneStep, faultsOf, StepHarness } from "./step-kit.ts";

const noImages: ImageInspector = {
  inspect: () => Promise.reject(new Error("texts are no images")),
  close: async () => {},
};
const deduplicate = deduplicateStep(noImages);

async function linesOf(harness: StepHarness, { files }: DoneStep): Promise<Item[]> {
  const [file] = files;
  assert.ok(file?.url.endsWith("/removed.jsonl") === true, "the removed items are in a file");
  const text = (await harness.read(file.hash)).toString("utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Item);
}

const urlsOf = (items: readonly Item[]) => items.map(({ url }) => url);

function prose(seed: number, words = 120): string {
  const random = seededRandom(seed);
  return Array.from({ length: words }, () => `w${integerBelow(random, 4000)}`).join(" ");
}

/** Empty: closed in the meantime. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const ARTICLES: Item[] = [
  { url: "https://a.example/1", text: prose(1), published_at: "2024-01-01", score: 3 },
  { url: "https://b.example/1", text: `${prose(1)} read more`, published_at: "2024-03-01T10:00:00+02:00", score: 1 },
  { url: "https://a.example/2", text: prose(2), published_at: null },
  { url: "https://c.example/1", text: prose(1).toUpperCase(), published_at: "2023-01-01", score: 9 },
  { url: "https://a.example/list" },
];

describe("deduplicate, for texts", () => {
  const dedupe = (harness: StepHarness, params: Record<string, JsonValue>, inputs: readonly Item[] = ARTICLES) =>
    harness.done(deduplicate, { text: "text", ...params }, { inputs });

  it("forwards each text once, and says what replaces the others and how similar it is", async () => {
    await using harness = new StepHarness();
    const end = await dedupe(harness, {});
    assert.deepEqual(end.output, { kept: 3, removed: 2, exact: 1, near: 1, without_text: 1 });
    assert.deepEqual(end.items, [ARTICLES[0], ARTICLES[2], ARTICLES[4]]);
    const [near, exact] = await linesOf(harness, end);
    const original = { item: 0, url: "https://a.example/1" };
    assert.deepEqual(exact, {
      ...ARTICLES[3],
      reason: "exact_duplicate",
      duplicate_of: { ...original, match: "exact", similarity: 1 },
    });
    assert.equal(near?.["reason"], "near_duplicate");
    const { similarity, ...rest } = near["duplicate_of"] as Record<string, number>;
    assert.deepEqual(rest, { ...original, match: "near" });
    assert.ok(similarity! > 0.95 && similarity! < 1);
  });

  it("keeps the first, the longest, the newest, or the one with the highest or lowest value", async () => {
    await using harness = new StepHarness();
    const kept = async (params: Record<string, JsonValue>) => (await dedupe(harness, params)).items[0]?.url;
    assert.equal(await kept({ keep: "first" }), "https://a.example/1");
    assert.equal(await kept({ keep: "longest" }), "https://b.example/1");
    assert.equal(await kept({ keep: "newest" }), "https://b.example/1");
    assert.deepEqual(urlsOf((await dedupe(harness, { keep: "highest:score" })).items)[1], "https://c.example/1");
    assert.equal(await kept({ keep: "lowest:score" }), "https://b.example/1");
  });

  it("ranks by numbers that are texts, and counts the items without a rank", async () => {
    await using harness = new StepHarness();
    const inputs = ["9", "10.5", " 2 ", "many", null].map((score, n) => ({ url: `https://a.example/${n}`, text: "a b c", score }));
    const end = await dedupe(harness, { keep: "highest:score" }, inputs);
    assert.deepEqual(urlsOf(end.items), ["https://a.example/1"]);
    assert.equal(end.output["without_rank"], 2);
    assert.deepEqual(urlsOf((await dedupe(harness, { keep: "lowest:score" }, inputs)).items), ["https://a.example/2"]);
  });

  it("finds only the same words with exact, and similar short texts with simhash", async () => {
    await using harness = new StepHarness();
    const { output } = await dedupe(harness, { method: "exact" });
    assert.deepEqual(output, { kept: 4, removed: 1, exact: 1, near: 0, without_text: 1 });
    const titles = [
      "Orb weavers rebuild their webs every evening",
      "Orb weavers rebuild their webs every single evening",
    ];
    const inputs = titles.map((title) => ({ title }));
    const end = await dedupe(harness, { text: "title", method: "simhash", distance: 12 }, inputs);
    assert.equal(end.output["near"], 1);
    const [removed] = await linesOf(harness, end);
    assert.ok(Number((removed!["duplicate_of"] as Item)["distance"]) > 0);
  });

  it("takes no items, and items without texts", async () => {
    await using harness = new StepHarness();
    const none = await dedupe(harness, {}, []);
    assert.deepEqual(none.output, { kept: 0, removed: 0, exact: 0, near: 0, without_text: 0 });
    const odd: Item[] = [{ text: null }, { text: { a: 1 } }, { text: "  " }, { text: 7 }, { text: "7" }];
    assert.deepEqual((await dedupe(harness, {}, odd)).items, odd.slice(0, 4));
  });

  it("ends its thread when it is cancelled during the comparison", async () => {
    await using harness = new StepHarness();
    const stop = new AbortController();
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    const before = threads();
    let during = 0;
    async function* inputs() {
      for (let n = 0; n < 3000; n += 1) yield { text: prose(n, 20) };
      during = threads();
      // All texts are read: the next turn waits for the decision.
      setImmediate(() => stop.abort(new Error("cancelled")));
    }
    const context = { ...harness.context({ signal: stop.signal }), inputs };
    await assert.rejects(async () => deduplicate.run(context, { text: "text" } as never), /cancelled/);
    assert.ok(during > before, "there was a thread");
    assert.equal(threads(), before, "the thread is gone");
  });

  it("has its temporary files on the disk of the stored files", { skip: !existsSync("/proc/self/fd") }, async () => {
    await using harness = new StepHarness();
    const open: string[] = [];
    const context = harness.context();
    async function* inputs() {
      for (let n = 0; n < 2000; n += 1) yield { text: prose(n, 20) };
      if (open.length > 0) return;
      // By now the thread has answered messages: its file is open.
      for (const fd of readdirSync("/proc/self/fd")) open.push(linkOf(`/proc/self/fd/${fd}`));
    }
    await deduplicate.run({ ...context, inputs }, { text: "text" } as never);
    const spilled = open.filter((path) => path.startsWith(`${harness.dir}/tmp/w-texts-`));
    assert.equal(spilled.length, 2, "one of the thread, one of the step");
  });

  it("refuses params that do not go together, naming them", () => {
    const paths = (params: Record<string, JsonValue>) => deduplicate.check?.(params, []).map(({ path }) => path);
    assert.deepEqual(paths({ threshold: 0.8, keep: "newest" }), ["params.threshold", "params.keep"]);
    assert.deepEqual(paths({ text: "text", keep: "largest" }), ["params.keep"]);
    assert.deepEqual(paths({ text: "text", method: "exact", shingle: 3 }), ["params.shingle"]);
    assert.deepEqual(paths({ text: "text", distance: 3 }), ["params.distance"]);
    assert.deepEqual(paths({ text: "text", date: "day" }), ["params.date"]);
    assert.deepEqual(paths({ text: "text", keep: "newest", date: "day" }), []);
    assert.deepEqual(paths({ distance: 3, keep: "largest" }), []);
    assert.notDeepEqual(faultsOf(deduplicate, { text: "text", threshold: 0.4 }), []);
    assert.notDeepEqual(faultsOf(deduplicate, { text: "text", keep: "best" }), []);
  });
});

const SENTENCES = [
  "The orb weaver builds a new web every evening, between the reeds at the edge of the pond.",
  "First it lets a thread drift in the wind until it catches on something, and then it crosses that bridge.",
  "From the middle it lays the spokes, and over them a wide spiral of dry silk that serves as a scaffold.",
  "Only then follows the sticky spiral, which it spins from the outside to the hub while eating the scaffold.",
  "When morning comes it takes the whole web down again and digests the silk, so that hardly anything is lost.",
];

describe("filter", () => {
  const filtered = (harness: StepHarness, params: Record<string, JsonValue>, inputs: readonly Item[]) =>
    harness.done(filterStep, params, { inputs });

  const reasonOf = async (harness: StepHarness, params: Record<string, JsonValue>, item: Item) => {
    const { output } = await filtered(harness, params, [item]);
    return Object.keys(output["reasons"] as object)[0] ?? null;
  };

  it("forwards good texts with their measures, and counts why the others are dropped", async () => {
    await using harness = new StepHarness();
    const good = { url: "https://a.example/1", text: SENTENCES.join("\n") };
    const inputs: Item[] = [
      good,
      { url: "https://a.example/2", text: "Too short." },
      { url: "https://a.example/3", text: `${SENTENCES[0]}\n`.repeat(9) },
      { url: "https://a.example/4" },
    ];
    const end = await filtered(harness, { presets: ["gopher", "fineweb"] }, inputs);
    assert.deepEqual(end.output, {
      kept: 1,
      removed: 3,
      reasons: { too_few_words: 1, duplicate_lines: 1, no_text: 1 },
    });
    const [kept] = end.items;
    assert.deepEqual({ ...kept, text_quality: null }, { ...good, text_quality: null });
    assert.equal((kept!["text_quality"] as Item)["words"], 98);
    const removed = await linesOf(harness, end);
    assert.deepEqual(
      removed.map(({ url, reason, detail = null }) => [url, reason, detail]),
      [
        ["https://a.example/2", "too_few_words", "min_words is 50, the text has 2"],
        ["https://a.example/3", "duplicate_lines", "max_duplicate_lines is 0.3, the text has 0.8889"],
        ["https://a.example/4", "no_text", null],
      ],
    );
  });

  it("applies each rule, and a rule that is set replaces that of a preset", async () => {
    await using harness = new StepHarness();
    const why = (params: Record<string, JsonValue>, text: string) => reasonOf(harness, params, { text });
    assert.equal(await why({ max_words: 3 }, "one two three four"), "too_many_words");
    assert.equal(await why({ min_characters: 5 }, "abc"), "too_few_characters");
    assert.equal(await why({ max_characters: 2 }, "abc"), "too_many_characters");
    assert.equal(await why({ min_mean_word_length: 3 }, "a b c d"), "words_too_short");
    assert.equal(await why({ max_mean_word_length: 3 }, "abcd"), "words_too_long");
    assert.equal(await why({ max_symbol_ratio: 0.1 }, "# one # two ..."), "too_many_symbols");
    assert.equal(await why({ min_alphabetic_words: 0.8 }, "1 2 3 four"), "too_few_alphabetic_words");
    assert.equal(await why({ max_bullet_lines: 0.9 }, "- a\n- b"), "too_many_bullets");
    assert.equal(await why({ max_ellipsis_lines: 0.3 }, "more…"), "too_many_ellipses");
    assert.equal(await why({ min_punctuated_lines: 0.5 }, "no mark\nnone\na mark."), "too_few_punctuated_lines");
    assert.equal(await why({ max_short_lines: 0.5 }, "short"), "too_many_short_lines");
    assert.equal(await why({ max_line_breaks: 0.3 }, "a\nb"), "too_many_line_breaks");
    assert.equal(await why({ max_duplicate_paragraphs: 0.3 }, "a\n\na"), "duplicate_paragraphs");
    assert.equal(await why({ max_top_2_gram: 0.2 }, "buy now ".repeat(4)), "repeated_phrase");
    assert.equal(await why({ max_duplicate_5_grams: 0.15 }, `${SENTENCES[0]} ${SENTENCES[0]}`), "repeated_phrases");
    const short = SENTENCES.slice(0, 2).join("\n");
    assert.equal(await why({ presets: ["gopher"] }, short), "too_few_words");
    assert.equal(await why({ presets: ["gopher"], min_words: 10 }, short), null);
    assert.equal(await why({ presets: ["gopher"], min_words: null }, short), null);
  });

  it("drops no good text of a script without spaces by the presets", async () => {
    await using harness = new StepHarness();
    const random = seededRandom(4);
    const sentence = (from: number, to: number, length: number) =>
      Array.from({ length }, () => String.fromCodePoint(from + integerBelow(random, to - from))).join("");
    const languages: Record<string, [number, number]> = {
      Chinese: [0x4e00, 0x5e00],
      Thai: [0xe01, 0xe2e],
      Lao: [0xea7, 0xeae],
      Khmer: [0x1780, 0x17a2],
      Burmese: [0x1000, 0x1021],
      Tibetan: [0xf40, 0xf47],
    };
    for (const [name, [from, to]] of Object.entries(languages)) {
      const text = Array.from({ length: 20 }, () => sentence(from, to, 60)).join("\n");
      const limits = { max_top_2_gram: null, max_top_3_gram: null };
      assert.equal(await reasonOf(harness, { presets: ["gopher", "fineweb"], ...limits }, { text }), null, name);
      assert.equal(await reasonOf(harness, { min_mean_word_length: 3 }, { text }), "words_too_short", "a rule of its own");
    }
  });

  it("accepts languages by what the page says, or by the text", async () => {
    await using harness = new StepHarness();
    const why = (params: Record<string, JsonValue>, item: Item) =>
      reasonOf(harness, { languages: ["en"], ...params }, item);
    const text = SENTENCES.join(" ");
    assert.equal(await why({}, { text, language: "en-GB" }), null);
    assert.equal(await why({}, { text, language: "de" }), "language_not_wanted");
    assert.equal(await why({ language: null }, { text, language: "de" }), null);
    assert.equal(await why({}, { text }), null);
    assert.equal(await why({ languages: ["de", "fr"] }, { text }), "language_not_wanted");
    assert.equal(await why({}, { text: "qwx zzk 77" }), "language_unknown");
  });

  it("evaluates expressions on the item and its measures, and reports those that cannot be evaluated", async () => {
    await using harness = new StepHarness();
    const inputs = [2019, 2024, null, undefined].map((year) => ({
      text: "one two",
      ...(year === undefined ? {} : { year }),
    }));
    const expressions = { too_old: "item.year >= 2020", long: "item.text_quality.words < 3" };
    const end = await filtered(harness, { expressions }, inputs);
    assert.deepEqual(end.output, { kept: 1, removed: 3, reasons: { too_old: 1, expression_error: 2 } });
    const [, wrongType, missing] = await linesOf(harness, end);
    assert.match(String(wrongType?.["detail"]), /^too_old: >= compares two numbers/);
    assert.match(String(missing?.["detail"]), /^too_old: there is no "year"/);
    const lenient = { too_old: "default(item.year, 2020) >= 2020" };
    assert.equal((await filtered(harness, { expressions: lenient }, inputs)).output["kept"], 3);
    const where = { fields: { year: { min: 2020 } } };
    const { output } = await filtered(harness, { where }, inputs);
    assert.deepEqual(output["reasons"], { condition_not_met: 3 });
  });

  it("refuses what can never match, and expressions that cannot be read", () => {
    const faults = (params: Record<string, JsonValue>) => filterStep.check?.(params, []).map(({ path }) => path);
    assert.deepEqual(faults({ min_words: 10, max_words: 5 }), ["params.min_words"]);
    assert.deepEqual(faults({ expressions: { a: "item.x >", b: "itme.x == 1", c: "item.x == 1" } }), [
      "params.expressions.a",
      "params.expressions.b",
    ]);
    assert.deepEqual(faults({ where: { url: "/(/" } }), ["params.where.url"]);
    assert.notDeepEqual(faultsOf(filterStep, { expressions: { "Not a reason": "true" } }), []);
    assert.notDeepEqual(faultsOf(filterStep, { presets: ["c4"] }), []);
  });

  it("gives the same whenever it is started again", async () => {
    await using harness = new StepHarness();
    const inputs = SENTENCES.map((text, at) => ({ url: `https://a.example/${at}`, text }));
    const params = { min_words: 18 };
    const [one, two] = [await filtered(harness, params, inputs), await filtered(harness, params, inputs)];
    assert.deepEqual(one, two);
    const again = await filtered(harness, params, one.items);
    assert.deepEqual(again.items, one.items);
  });
});
