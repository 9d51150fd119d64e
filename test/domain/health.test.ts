import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { degradedReasons, neverFilled } from "../../src/domain/health/compare.ts";
import { describeReason } from "../../src/domain/health/describe-reason.ts";
import {
  coverageOf,
  fieldOf,
  type HealthProfile,
  LostCounter,
  lostOf,
  MOST_FIELDS,
  ProfileBuilder,
} from "../../src/domain/health/profile.ts";
import { rulesOf, ruleFieldsOf } from "../../src/domain/health/run-records.ts";
import { DistinctCount, ValueSample } from "../../src/domain/health/sketches.ts";
import { classOfText, numberIn } from "../../src/domain/health/value-class.ts";
import { brokenPages, drops, quiet } from "./health-histories.ts";
import fc from "../support/properties.ts";

type Row = Readonly<Record<string, unknown>>;

function profiled(rows: readonly Row[], perPage = 1): HealthProfile {
  const builder = new ProfileBuilder();
  for (const [index, row] of rows.entries()) builder.add(row, `page ${Math.floor(index / perPage)}`);
  return builder.profile();
}

const catalogue = (count: number, row: (index: number) => Row) =>
  Array.from({ length: count }, (_, index) => row(index));
const book = (index: number): Row => ({ title: `Book number ${index}`, price: `€ ${10 + (index % 90)}.90` });
const months = (profile: HealthProfile) => Array.from({ length: 5 }, () => profile);
const usual = profiled(catalogue(200, book));
const changed = (row: (index: number) => Row, history = months(usual)) =>
  degradedReasons(profiled(catalogue(200, row)), history);

describe("what values look like", () => {
  for (const [kind, texts] of Object.entries({
    number: ["12", "1,299.00", "-3", "45 %", "1 299"],
    price: ["€ 12.90", "12,90 €", "$1,299.00", "CHF 20", "20 kr", "US$ 5", "12.90 EUR"],
    date: ["2026-11-18", "18.11.2026", "2026-11-18T04:00:00Z", "18 November 2026", "Nov 18, 2026"],
    url: ["https://a.example/x", "/images/a.jpg", "//cdn.example/a"],
    email: ["somebody@shop.example"],
    code: ["B07-XK12", "978-3-16-148410-0x", "SKU1234"],
    text: ["A title", "in stock", "Only 3 left", "x".repeat(500)],
  }))
    test(`${kind}: ${texts[0]}`, () => {
      for (const text of texts) assert.equal(classOfText(text), kind, text);
    });

  test("amounts are read however they are written", () => {
    for (const [text, value] of [
      ["€ 1.299,50", 1299.5],
      ["$1,299.50", 1299.5],
      ["1.299", 1299],
      ["12,9", 12.9],
      ["1 299,00 kr", 1299],
      ["-3", -3],
      ["1.234.567", 1234567],
    ] as const)
      assert.equal(numberIn(text), value, text);
    assert.equal(numberIn("–"), null);
  });
});

describe("the profile of a run", () => {
  test("counts coverage, distinct values, types, lengths and numbers exactly for small runs", () => {
    const rows = [
      { a: "x", n: 1, l: [1, 2] },
      { a: " ", n: 5, l: [] },
      { a: "x", n: 3 },
      { a: null, n: null, l: {} },
    ];
    const profile = profiled(rows, 2);
    assert.deepEqual([profile.records, profile.pages], [4, 2]);
    assert.equal(coverageOf(profile, "a"), 0.5);
    assert.deepEqual(profile.fields["n"], {
      filled: 3,
      distinct: 3,
      exact: true,
      types: { number: 1 },
      classes: { number: 1 },
      length: { median: 1, spread: 0 },
      digits: 1,
      range: { count: 3, min: 1, median: 3, max: 5 },
      examples: ["1", "5", "3", null].map((value) => ({ url: null, value })),
    });
    assert.deepEqual(fieldOf(profile, "l")?.types, { list: 1 });
    assert.equal(fieldOf(profile, "constructor"), null);
    assert.deepEqual(JSON.parse(JSON.stringify(profile)), profile);
  });

  test("takes the same memory however many records there are", () => {
    const sample = new ValueSample(64);
    const distinct = new DistinctCount(256);
    for (let index = 0; index < 50_000; index += 1) {
      sample.add(index);
      distinct.add(`value ${index % 20_000}`);
    }
    assert.ok(sample.values.length <= 64);
    assert.ok(Math.abs(distinct.count / 20_000 - 1) < 0.25 && !distinct.isExact);
    const builder = new ProfileBuilder();
    builder.add(Object.fromEntries(Array.from({ length: MOST_FIELDS + 5 }, (_, n) => [`f${n}`, n])), "p");
    const { fields, fields_left_out: left } = builder.profile();
    assert.deepEqual([Object.keys(fields).length, left], [MOST_FIELDS, 5]);
  });

  test("no record breaks it", () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 30 }), (rows) => {
        const profile = JSON.parse(JSON.stringify(profiled(rows as Row[]))) as HealthProfile;
        assert.equal(profile.records, rows.length);
        for (const name of Object.keys(profile.fields)) {
          const share = coverageOf(profile, name);
          assert.ok(share >= 0 && share <= 1);
        }
        assert.deepEqual(degradedReasons(profile, months(profile)), [], "what is the same is not worse");
      }),
    );
  });
});

describe("what got worse", () => {
  test("a field that is filled less often; its other changes are part of the same reason", () => {
    const [reason, ...others] = changed((index) => ({ ...book(index), price: index % 3 === 0 ? "call us" : null }));
    assert.deepEqual(others, []);
    assert.deepEqual([reason?.field, reason?.metric, reason?.before, reason?.now], ["price", "coverage", 1, 0.335]);
    assert.ok(reason?.also?.includes("class"));
    assert.deepEqual(reason?.examples, ["call us"]);
    assert.equal(describeReason(reason!), "price: filled in 33.5 % (before: 100 %)");
  });

  for (const [what, metric, row] of [
    ["a field that is gone", "coverage", ({ title }: Row) => ({ title })],
    ["prices that are texts", "class", (row: Row) => ({ ...row, price: "in the basket" })],
    ["the same value on every page", "distinct", (row: Row) => ({ ...row, title: "Our bookshop 1" })],
    ["cents instead of euros", "range", ({ title, price }: Row) => ({ title, price: String(price).replace(".", "") })],
    [
      "titles with everything else",
      "length",
      (row: Row) => ({ ...row, title: `${row["title"]} ${"more ".repeat(30)}` }),
    ],
  ] as const)
    test(what, () => {
      const reasons = changed((index) => row(book(index)));
      assert.equal(reasons.length, 1);
      assert.equal(reasons[0]?.metric, metric);
    });

  test("a list that gives no records, or fewer on each page; a partial run has fewer anyway", () => {
    const none = degradedReasons(profiled([]), months(usual));
    assert.deepEqual([none.length, none[0]?.field, none[0]?.metric], [1, null, "records"]);
    assert.deepEqual(degradedReasons(profiled(catalogue(60, book)), months(usual), { isPartial: true }), []);
    const lists = profiled(catalogue(200, book), 10);
    const [reason] = degradedReasons(profiled(catalogue(180, book), 2), months(lists));
    assert.equal(reason?.metric, "records_per_page");
  });

  test("nothing is said before there are three runs, of fields that got better, or of a handful of records", () => {
    const worse = profiled(catalogue(200, () => ({ title: null, price: null })));
    assert.deepEqual(degradedReasons(worse, [usual, usual]), []);
    assert.equal(degradedReasons(worse, [usual, usual, usual]).length, 2);
    assert.deepEqual(degradedReasons(usual, months(profiled(catalogue(200, () => ({ title: null }))))), []);
    const few = profiled(catalogue(5, book));
    assert.deepEqual(degradedReasons(profiled(catalogue(5, () => ({ title: null }))), months(few)), []);
  });

  test("a field that no record of a first run has is a hint", () => {
    assert.deepEqual(neverFilled(profiled(catalogue(20, (index) => ({ title: `${index}`, price: null })))), ["price"]);
    assert.deepEqual(neverFilled(profiled(catalogue(19, () => ({ price: null })))), []);
  });
});

describe("pages that gave records before, and fail on a required field", () => {
  /** So many books, and so many pages that had a price and lack it now. */
  function run(books: number, failed: number, { perPage = 1, others = 0 } = {}): HealthProfile {
    const counter = new LostCounter();
    for (let page = 0; page < failed; page += 1) counter.add(["price"], `https://shop.example/${page}`);
    const profile = profiled(catalogue(books, book), perPage);
    return { ...profile, lost: counter.lost(profile.pages + others) };
  }
  const reasons = (now: HealthProfile, history: HealthProfile) =>
    degradedReasons(now, months(history), { isPartial: true }).map(({ field, metric, before, now: share }) => [
      field,
      metric,
      before,
      share,
    ]);

  test("degrade the run, even if no page gave a record, and are shown", () => {
    assert.deepEqual(reasons(run(0, 40), run(40, 0)), [["price", "missing", 0, 1]]);
    assert.deepEqual(reasons(run(100, 100), run(200, 0)), [["price", "missing", 0, 0.5]]);
    assert.deepEqual(reasons(run(100, 10, { perPage: 10 }), run(200, 0, { perPage: 10 })), [
      ["price", "missing", 0, 0.5],
    ]);
    const [reason] = degradedReasons(run(0, 40), months(run(40, 0)), { isPartial: true });
    assert.deepEqual(
      reason?.pages,
      [0, 1, 2].map((page) => `https://shop.example/${page}`),
    );
    assert.equal(describeReason(reason!), "price: not on pages that had it: 100 % (before: 0 %)");
  });

  test("leave the coverage of the records alone", () => {
    assert.equal(coverageOf(run(20, 80), "price"), 1);
    assert.deepEqual(reasons(run(200, 10, { others: 3000 }), run(200, 0)), [], "a crawl with only_changed");
  });

  test("say nothing if they are few, such as lists with a sold-out item, or were always so many", () => {
    assert.deepEqual(reasons(run(190, 1, { perPage: 10 }), run(200, 0, { perPage: 10 })), []);
    assert.deepEqual(reasons(run(200, 30), run(200, 30)), []);
    assert.deepEqual(reasons(run(0, 9), run(40, 0)), []);
  });

  test("say nothing if earlier runs, or this one, did not count them", () => {
    const { lost: _lost, ...old } = run(200, 0);
    assert.deepEqual(reasons(run(100, 100), old), []);
    const { lost: _now, ...now } = run(100, 100);
    assert.deepEqual(reasons(now, run(200, 0)), []);
    assert.equal(lostOf(old, "price"), null);
    assert.deepEqual(lostOf(run(9, 0), "price"), { pages: 0, examples: [] });
  });
});

test("other rules are another history; a crawl of articles has none", () => {
  const recipe = { fields: { price: ".price" }, items: null, schema: null, extract: null, replay: null };
  const page = (more: object) =>
    rulesOf({ kind: "page", snapshot: { url: "https://a.example/", recipe: { ...recipe, ...more } } });
  assert.equal(page({}), page({ timeout_seconds: 9 }));
  assert.notEqual(page({}), page({ fields: { price: ".amount" } }));
  const crawl = { urls: ["https://a.example/"], fields: null, items: null, schema: null };
  assert.equal(rulesOf({ kind: "crawl", snapshot: { options: crawl } }), null);
  assert.notEqual(rulesOf({ kind: "crawl", snapshot: { options: { ...crawl, fields: ["title"] } } }), null);
  assert.deepEqual(ruleFieldsOf("crawl", { url: "u", depth: 1, title: "t", fields: { price: 1 } }), { price: 1 });
  assert.deepEqual(ruleFieldsOf("page", { price: 1, document: { html: "…" } }), { price: 1 });
});

describe("simulated histories", () => {
  test("quiet runs are hardly ever reported: at most 1 in 1,000 [slow]", () => {
    const { runs, alarms } = quiet(20_261_118, 250);
    assert.equal(runs, 10_000);
    assert.ok(alarms <= 10, `${alarms} of ${runs}`);
  });

  test("pages that fail for lack of a required field are reported by the same run, in 99 of 100 histories [slow]", () => {
    const found = brokenPages(20_261_118, 500);
    assert.equal(found.histories, 500);
    assert.ok(found.reported >= 495, `${found.reported} of 500`);
  });

  test("a field that loses ten points or more is reported by the same run, in 99 of 100 histories [slow]", () => {
    const found = drops(20_261_118, 1000, { least: 300, exactly: false });
    assert.equal(found.histories, 1000);
    assert.ok(found.reported >= 990, `${found.reported} of 1,000`);
  });
});
