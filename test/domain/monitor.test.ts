import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deflateSync } from "node:zlib";
import { PageComparer } from "../../src/domain/monitor/compare.ts";
import { withoutNoise } from "../../src/domain/monitor/noise.ts";
import { MONITOR_DEFAULTS, type MonitorOptions, NOISE_CLASSES } from "../../src/domain/monitor/options.ts";
import { extractPage } from "../../src/extract/page.ts";
import { compilePlan } from "../../src/extract/plan.ts";
import { learnShared, type SharedProfile, withShared } from "../../src/domain/monitor/volatile/shared.ts";
import { NO_PROFILE, type VolatileProfile } from "../../src/domain/monitor/volatile/profile.ts";

const ALL = new Set(NOISE_CLASSES);
const isNoise = (one: string, other: string) => withoutNoise(one, ALL, null) === withoutNoise(other, ALL, null);

describe("noise", () => {
  for (const [one, other] of [
    ["Updated 2026-01-02 13:45", "Updated 2026-03-04 08:01"],
    ["Monday, 5 May 2025", "Tuesday, 6 May 2025"],
    ["March 3rd, 2024 at 5:30 pm", "April 14th, 2024 at 6:12 am"],
    ["03.04.2025", "17.05.2025"],
    ["posted 3 minutes ago", "posted 2 hours ago"],
    ["vor 3 Stunden", "vor 12 Minuten"],
    ["1,234 views", "1,301 views"],
    ["Views: 12.5k", "Views: 13.1k"],
    ["14 people are viewing this", "9 people are viewing this"],
    ["© 2024 Shop", "© 2025 Shop"],
    ["[a](https://a.example/x?sid=9f8e7d6c&b=1)", "[a](https://a.example/x?sid=0a1b2c3d&b=1)"],
    ["/app.3f2a9c01.js", "/app.99ab01cd.js"],
    ["Request ID: 8f3a22b1", "Request ID: 11ce98aa"],
    ["token 4f9c2e1b7a6d5c8e9f0a1b2c3d4e5f60", "token 0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
  ] as const)
    test(`"${one}" and "${other}" are the same`, () => assert.ok(isNoise(one, other), withoutNoise(one, ALL, null)));

  for (const [one, other] of [
    ["£51.77", "£51.78"],
    ["In stock (19 available)", "In stock (18 available)"],
    ["Version 1.2.13", "Version 1.2.14"],
    ["UPC a897fe39b1053632", "UPC 90fa61229261140a"],
    ["[a](https://a.example/item/12)", "[a](https://a.example/item/13)"],
    ["[a](https://a.example/?newsid=12)", "[a](https://a.example/?newsid=13)"],
    ["Rated 4.5 of 5", "Rated 4.4 of 5"],
    ["Delivery in 3 days", "Delivery in 5 days"],
    ["Call 555 1234", "Call 555 1235"],
    ["Open on Monday", "Open on Tuesday"],
  ] as const)
    test(`"${one}" and "${other}" differ`, () => assert.ok(!isNoise(one, other), withoutNoise(one, ALL, null)));
});

describe("dates", () => {
  const at = Date.UTC(2026, 4, 5, 9);
  const next = at + 86_400_000;
  const isChange = (before: string, after: string) =>
    new PageComparer(MONITOR_DEFAULTS).compare({
      before: Buffer.from(`Hall\n${before}\nWelcome`),
      after: Buffer.from(`Hall\n${after}\nWelcome`),
      again: [],
      profile: NO_PROFILE,
      beforeAt: at,
      afterAt: next,
    }).isChanged;
  for (const [before, after] of [
    ["Tuesday, 5 May 2026", "Wednesday, 6 May 2026"],
    ["5 May", "6 May"],
    ["05/05/2026", "05/06/2026"],
    ["Updated 1 March 2026 at 12:00", "Updated 4 April 2026 at 13:30"],
    ["14:02", "14:03"],
    ["Concert on 5 May 2026", "Concert on 5 May 2026"],
    ["3 uur geleden", "5 uur geleden"],
  ] as const)
    test(`"${before}" and "${after}" a day later are no change`, () => assert.equal(isChange(before, after), false));
  for (const [before, after] of [
    ["Concert on 14 June 2026", "Concert on 15 June 2026"],
    ["14 June 2026", "15 June 2026"],
    ["2026-06-14", "2026-06-15"],
    ["Doors open at 19:30", "Doors open at 19:00"],
    ["Concert on 5 May 2026", "Concert on 9 May 2026"],
  ] as const)
    test(`"${before}" and "${after}" are a change`, () => assert.equal(isChange(before, after), true));
});

const TIMES = { beforeAt: null, afterAt: null };

const compare = (
  options: Partial<MonitorOptions>,
  before: string,
  after: string,
  again: string | readonly string[] | null = null,
  profile: VolatileProfile = NO_PROFILE,
) =>
  new PageComparer({ ...MONITOR_DEFAULTS, ...options }).compare({
    before: Buffer.from(before),
    after: Buffer.from(after),
    again: (again === null ? [] : [again].flat()).map((text) => Buffer.from(text)),
    profile,
    ...TIMES,
  });

/** The lengths of what is searched meanwhile, but for white space: that takes one step a character. */
function textsGivenToExpressions(during: () => void): number[] {
  const lengths: number[] = [];
  const own = Object.getOwnPropertyDescriptor(RegExp.prototype, Symbol.replace)!;
  const replace = own.value as (text: string, by: string) => string;
  function counted(this: RegExp, text: string, by: string): string {
    if (this.source !== String.raw`\s+`) lengths.push(text.length);
    return Reflect.apply(replace, this, [text, by]);
  }
  // oxlint-disable-next-line no-extend-native
  Object.defineProperty(RegExp.prototype, Symbol.replace, { ...own, value: counted });
  try {
    during();
  } finally {
    // oxlint-disable-next-line no-extend-native
    Object.defineProperty(RegExp.prototype, Symbol.replace, own);
  }
  return lengths;
}

describe("a comparison", () => {
  test("counts changed words and shows them by line and by word", () => {
    const { added, removed, diff, summary } = compare({}, "one\ntwo three four\nfive", "one\ntwo 3 four\nfive\nsix");
    assert.deepEqual([added, removed, summary], [2, 1, "three → 3"]);
    assert.equal(diff.unified, "@@ -1,3 +1,4 @@\n one\n-two three four\n+two 3 four\n five\n+six\n");
  });

  test("does not learn a line away in which a steady word changed", () => {
    const line = (price: number, node: string) => `Kettle weighs ${price} stones, served by ${node}`;
    const first = compare({}, line(10, "a1"), line(10, "b2"), line(10, "c3"));
    assert.equal(first.isChanged, false, "the node alone");
    const second = compare({}, line(10, "d4"), line(12, "e5"), line(12, "f6"), first.profile);
    assert.equal(second.isChanged, true, "the weight as well");
  });

  test("waits for the next run where a later fetch is as the page was before: it may be old, or the page goes back and forth", () => {
    const page = (...lines: string[]) => ["Kettle", "Boils water well", ...lines, "Imprint", "Contact"].join("\n");
    for (const [was, is] of [
      [["Sold by the old owner of this house"], ["Sold by the new owner of this house"]],
      [["Closed"], ["Open again"]],
      [[], ["Open again"]],
      [["Closed"], []],
    ] as const) {
      const found = compare({}, page(...was), page(...is), page(...was));
      assert.deepEqual([found.isChanged, found.isUnsettled], [false, true]);
      const settled = compare({}, page(...was), page(...is), [page(...is), page(...is)], found.profile);
      assert.deepEqual([settled.isChanged, settled.isUnsettled], [true, false], "the next run is of one mind");
      const swinging = compare({}, page(...was), page(...is), page(...was), found.profile);
      assert.equal(swinging.isChanged, false);
      assert.equal(compare({}, page(...was), page(...is), null, swinging.profile).isChanged, false, "it is known now");
    }
    const both = compare({}, page("Closed"), `${page("Open again")}\nNew address`, `${page("Closed")}\nNew address`);
    assert.match(both.diff.unified, /^\+Open again$/m, "what is reported anyway is reported whole");
  });

  for (const line of [
    (value: number) => `The kettle costs ${value} kr today`,
    (value: number) => `The kettle costs ${value} zł today`,
    (value: number) => `The kettle costs ${value} euros today`,
    (value: number) => `The kettle costs ${value} Kč today`,
    (value: number) => `Only ${value} left of this kettle`,
    (value: number) => `Kettle in stock since shelf ${value}`,
    (value: number) => `€ ${value}`,
  ])
    test(`never learns "${line(7)}" away`, () => {
      const page = (value: number) => `Kettle\n${line(value)}\nImprint`;
      const { isChanged, profile } = compare({}, page(7), page(8), page(9));
      assert.equal(isChanged, true);
      assert.deepEqual([profile.lines, profile.slots], [[], []]);
    });

  test("learns a line that differs in nearly every run, but never one with a price", () => {
    let profile = NO_PROFILE;
    const page = (run: number) =>
      `Title\nYou are guest number g${run} of this house\nThe price is € ${run} for all of you`;
    const changed: number[] = [];
    for (let run = 0; run < 12; run += 1) {
      const found = compare({}, page(run), page(run + 1), null, profile);
      ({ profile } = found);
      changed.push(found.added);
    }
    assert.equal(changed[0], 2, "both lines");
    assert.equal(changed.at(-1), 1, "the price alone");
  });

  test("ignores the order of links, but not their targets", () => {
    assert.equal(compare({ what: "links" }, "https://a/1\nhttps://a/2", "https://a/2\nhttps://a/1").isChanged, false);
    assert.equal(compare({ what: "links" }, "https://a/1\nhttps://a/2", "https://a/1\nhttps://a/3").isChanged, true);
  });

  test("takes fields as they are: dates and counters of a record are values", () => {
    const record = (at: string, views: string) => JSON.stringify([{ at, views }]);
    const { isChanged, diff } = compare(
      { what: "fields" },
      record("2026-01-01", "1 views"),
      record("2026-01-02", "1 views"),
    );
    assert.equal(isChanged, true);
    assert.deepEqual(diff.records?.[0]?.fields, { at: { before: "2026-01-01", after: "2026-01-02" } });
    const ignoring = { what: "fields", ignore: ["at"] } as const;
    const same = compare({ ...ignoring, ignore: ["at"] }, record("2026-01-01", "1"), record("2026-01-02", "1"));
    assert.equal(same.isChanged, false);
  });

  test("compares texts of very many lines, and shows the first of them [slow]", () => {
    const text = (word: string) => Array.from({ length: 150_000 }, (_, line) => `${word}${line}`).join("\n");
    const { added, removed, diff } = compare({ learn: false }, text("a"), text("b"));
    assert.deepEqual([added, removed, diff.truncated], [150_000, 150_000, true]);
    assert.equal(diff.hunks.flatMap(({ lines }) => lines).length, 2000);
  });

  for (const unit of ["1 ", "?a=", "+", "build=", "1", "12:", "&sid", "a1-", "May "])
    test(`reads a line of two megabytes of "${unit}" piece by piece [slow]`, () => {
      const line = unit.repeat(2_000_000 / unit.length);
      const seen = textsGivenToExpressions(() => {
        assert.equal(compare({}, line, `${line} more`).isChanged, true, "the rest counts");
        assert.equal(compare({}, line, line).isChanged, false);
      });
      assert.ok(seen.length < 50_000, `${seen.length} pieces`);
      assert.ok(
        seen.every((length) => length <= 5100),
        "no expression gets the whole line",
      );
    });

  test("looks at each word of a line once per word of a learned place", () => {
    // Six gaps that could stand nearly anywhere.
    const line = (word: string) =>
      `${Array.from({ length: 6 }, (_, at) => `a a a a a ${word}${at}`).join(" ")} a a a end`;
    const { profile } = compare({}, line("x"), line("y"), line("z"));
    assert.equal(profile.lines.length, 1);
    let looked = 0;
    const words = { ...profile.lines[0]!, gap: 20 };
    const counting = new Proxy(words.words, {
      get: (list, name, self) => {
        looked += 1;
        return Reflect.get(list, name, self) as unknown;
      },
    });
    const hostile = `${"a ".repeat(100)}other`;
    compare({}, hostile, `${hostile}s`, null, { ...profile, lines: [{ ...words, words: counting }] });
    assert.ok(looked < 10_000, `${looked} looks`);
  });

  test("tells two quite different texts apart without comparing them for long", () => {
    const text = (word: string) => Array.from({ length: 20_000 }, (_, line) => `${word} ${line}`).join("\n");
    const began = performance.now();
    assert.equal(compare({}, text("a"), text("b")).isChanged, true);
    assert.ok(performance.now() - began < 20_000);
  });
});

/** A PNG of 64 by 64 points, white but for a box. */
function picture(x: number, size: number): string {
  const rows = Array.from({ length: 64 }, (_, row) =>
    Buffer.from([0, ...Array.from({ length: 64 * 3 }, (__, at) => (isIn(Math.floor(at / 3), row) ? 0 : 255))]),
  );
  function isIn(column: number, row: number): boolean {
    return column >= x && column < x + size && row < size;
  }
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type, "latin1"), data, Buffer.alloc(4)]);
  };
  const head = Buffer.from([0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0]);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("latin1");
}

test("screenshots differ by a share of their pixels, without the areas that change on their own", () => {
  const comparer = new PageComparer({ ...MONITOR_DEFAULTS, what: "screenshot" });
  const bytes = (x: number, size: number) => Buffer.from(picture(x, size), "latin1");
  const [before, after] = [bytes(0, 16), bytes(32, 16)];
  const found = comparer.compare({ before, after, again: [], profile: NO_PROFILE, ...TIMES });
  assert.equal(found.isChanged, true);
  assert.equal(found.share, (2 * 16 * 16) / (64 * 64));
  assert.deepEqual(found.diff.picture?.boxes.length, 2);
  assert.equal(
    comparer.compare({ before, after: bytes(0, 16), again: [], profile: NO_PROFILE, ...TIMES }).isChanged,
    false,
  );
  // A second fetch that is as before says that one of the two was old, not that the place changes on its own.
  const stale = comparer.compare({ before, after, again: [before], profile: NO_PROFILE, ...TIMES });
  assert.deepEqual([stale.isChanged, stale.profile.tiles], [true, []]);
  const learned = comparer.compare({
    before,
    after: bytes(0, 12),
    again: [bytes(0, 8)],
    profile: NO_PROFILE,
    ...TIMES,
  });
  assert.equal(learned.isChanged, false, "three pictures, three sizes");
});

describe("a place that a page changes on its own", () => {
  type Item = string | readonly string[];
  /** A page with a list, a quote and a text, as the extractor reads it. */
  const html = (items: readonly Item[], quote: string, text: string) =>
    `<title>Shop</title><body><main><h1>Shop</h1><p>${text}</p><div class="goods"><h2>Goods</h2><ul>${items
      .map((item) => `<li>${[item].flat().join("<br>")}</li>`)
      .join("")}</ul></div><blockquote>${quote}</blockquote><p>Imprint</p></main></body>`;
  const read = (page: string) => {
    const plan = compilePlan({
      fields: null,
      links: false,
      monitor: { what: "text", exclude: [], only_main_content: false },
    });
    const { monitored } = extractPage({ body: page, contentType: "text/html", url: "https://a.example/" }, plan);
    return Buffer.from(monitored!);
  };
  const run = (
    before: string,
    fetches: readonly string[],
    profile: VolatileProfile = NO_PROFILE,
    options: Partial<MonitorOptions> = {},
  ) => {
    const [after, ...again] = fetches.map(read);
    const times = { beforeAt: null, afterAt: null };
    return new PageComparer({ ...MONITOR_DEFAULTS, ...options }).compare({
      before: read(before),
      after: after!,
      again,
      profile,
      ...times,
    });
  };
  const goods = ["Lamp € 4", "Rug € 5", "Vase € 6", "Stool € 7"];
  const [lamp, rug, vase, stool] = goods as [string, string, string, string];
  const list = (...items: Item[]) => html(items, "“Good.”", "Words.");

  test("may be a shuffled list: its order is left out, its members count", () => {
    const learned = run(list(lamp, rug, vase, stool), [list(vase, lamp, stool, rug), list(stool, rug, lamp, vase)]);
    assert.equal(learned.isChanged, false);
    assert.deepEqual(
      learned.profile.regions?.map(({ mode }) => mode),
      ["shuffled"],
    );
    assert.doesNotMatch(JSON.stringify(learned.profile), /Goods|Lamp/, "no words of the page are kept in the open");
    const [ignored] = learned.diff.ignored!;
    assert.deepEqual(
      [ignored?.kind, ignored?.place, ignored?.before, ignored?.after],
      ["shuffled", "main > div.goods “Goods” > ul “Goods”", [lamp, rug, vase, stool], [vase, lamp, stool, rug]],
    );
    const later = run(list(lamp, rug, vase, stool), [list(stool, "Vase € 2", "Sofa € 9", lamp)], learned.profile);
    const changed = later.diff.unified.split("\n").filter((line) => /^[-+]\w/.test(line));
    assert.deepEqual(changed.toSorted(), ["+Sofa € 9", "+Vase € 2", `-${rug}`, `-${vase}`]);
  });

  test("is no list whose order changed once: a ranking counts", () => {
    const ranked = list(rug, lamp, vase, stool);
    assert.equal(run(list(lamp, rug, vase, stool), [ranked, ranked, ranked]).isChanged, true);
  });

  test("may be a list with other members each time, and then a member with another price counts still", () => {
    const learned = run(list(lamp, rug), [list(vase, stool), list(rug, vase), list(stool, lamp)]);
    assert.equal(learned.isChanged, false);
    assert.equal(learned.profile.regions?.[0]?.mode, "rotating");
    assert.equal(run(list(lamp, rug), [list(vase, rug)], learned.profile).isChanged, false);
    const cheaper = run(list(lamp, rug), [list(vase, "Rug € 3")], learned.profile);
    assert.match(cheaper.diff.unified, /^-Rug € 5\n\+Rug € 3$/m);
  });

  const quoted = (quote: string, text = "Words.") => html(goods, quote, text);
  const quotes = ["“Sturdy, and easy to clean.”", "Would buy it again", "My whole family has one"];

  test("is named, with what was left out, and counts if the user watches it", () => {
    const learned = run(quoted(quotes[0]!), [quoted(quotes[1]!), quoted(quotes[2]!)]);
    const next = run(quoted(quotes[1]!), [quoted(quotes[0]!, "Other words.")], learned.profile);
    assert.equal(next.isChanged, true);
    assert.ok(!next.diff.unified.includes(`+${quotes[0]}`));
    assert.deepEqual(next.diff.ignored, [
      { kind: "place", place: "main > blockquote", before: [quotes[1]], after: [quotes[0]] },
    ]);
    for (const watch of ["main > blockquote", "/block/"]) {
      const watched = run(quoted(quotes[1]!), [quoted(quotes[0]!)], learned.profile, { watch: [watch] });
      assert.deepEqual([watched.isChanged, watched.diff.ignored], [true, []], watch);
    }
  });

  test("counts again when it has stayed the same for ten runs", () => {
    let { profile } = run(quoted(quotes[0]!), [quoted(quotes[1]!), quoted(quotes[2]!)]);
    const steady = quoted("A last word");
    for (let runs = 0; runs < 11; runs += 1) {
      const found = run(quoted(quotes[0]!), [steady], profile);
      assert.equal(found.isChanged, false, `run ${runs}`);
      ({ profile } = found);
    }
    assert.equal(run(quoted(quotes[0]!), [steady, steady, steady], profile).isChanged, true);
  });

  test("is learned over the runs where fetches close in time are alike, if it comes back to what it was", () => {
    let profile = NO_PROFILE;
    const reported: boolean[] = [];
    for (let at = 0; at < 9; at += 1) {
      const [was, is] = [quoted(quotes[at % 3]!), quoted(quotes[(at + 1) % 3]!)];
      const found = run(was, [is, is, is], profile);
      ({ profile } = found);
      reported.push(found.isChanged);
    }
    assert.deepEqual(reported, [true, true, true, true, true, false, false, false, false]);
    profile = NO_PROFILE;
    for (let at = 0; at < 12; at += 1) {
      const found = run(
        quoted(`Headline ${at} about ${"abcdefghijklmnop"[at]}`),
        [quoted(`News ${at + 1} of ${at}`)],
        profile,
      );
      ({ profile } = found);
      assert.equal(found.isChanged, true, "what is new each time is never learned away");
    }
  });

  test("is known to other pages of the job once three have shown it", () => {
    let shared: SharedProfile | null = null;
    const { profile } = run(list(lamp, rug, vase, stool), [list(vase, lamp, stool, rug), list(stool, rug, lamp, vase)]);
    for (const page of ["a", "b", "c"]) {
      assert.deepEqual(withShared(NO_PROFILE, shared).regions ?? [], []);
      shared = learnShared(learnShared(shared, page, profile), page, profile);
    }
    assert.equal(withShared(NO_PROFILE, shared).regions?.length, 1);
    assert.equal(
      withShared({ ...profile, regions: profile.regions!.map((one) => ({ ...one, off: true as const })) }, shared)
        .regions?.[0]?.off,
      true,
    );
  });

  test("is summed up by its first difference alone", () => {
    const [before, after] = ["<p>One</p><p>Two</p><p>Three</p>", "<p>New</p><p>One</p><p>Two</p>"];
    const whole = (text: string) => `<title>Shop</title><body><main>${text}</main></body>`;
    assert.equal(run(whole(before), [whole(after), whole(after), whole(after)]).summary, "+ New");
  });

  const SAYINGS = ["Be bold", "Stay calm and read", "Never stop walking", "Ask why it is so", "Rest on Sundays"];
  const [OPEN, CLOSED] = ["Open from nine to five", "Closed on all Mondays now"];
  for (const [what, page] of [
    ["a box", (hours, saying) => `<div class="box"><p>${hours}</p><p>${saying}</p></div>`],
    ["a list of two", (hours, saying) => `<ul class="tips"><li>${hours}</li><li>${saying}</li></ul>`],
    [
      "a list of which half changes",
      (hours, saying) => `<ul class="tips"><li>${hours}</li><li>Second</li><li>${saying}</li><li>${saying}!</li></ul>`,
    ],
    [
      "a table",
      (hours, saying) =>
        `<table><tr><td>Hours</td><td>${hours}</td></tr><tr><td>Tip</td><td>${saying}</td></tr></table>`,
    ],
    ["a line", (hours, saying) => `<p>${saying} – ${hours}</p>`],
  ] as [string, (hours: string, saying: string) => string][])
    test(`hides nothing that stands beside it in ${what}`, () => {
      const whole = (hours: string, at: number) =>
        `<title>Shop</title><body><main><h1>Shop</h1><p>We sell things.</p></main>${page(hours, SAYINGS[at % 5]!)}</body>`;
      const fetches = (hours: string, from: number) => [0, 1, 2, 3].map((at) => whole(hours, from + at));
      const learned = run(whole(OPEN, 0), fetches(OPEN, 1));
      assert.equal(learned.isChanged, false, learned.diff.unified);
      const known = run(whole(OPEN, 1), fetches(CLOSED, 2), learned.profile);
      assert.match(known.diff.unified, /^\+.*Closed on all Mondays now/m, "once the place is known");
      if (what === "a line") return;
      const atOnce = run(whole(OPEN, 0), fetches(CLOSED, 1));
      assert.match(atOnce.diff.unified, /^\+.*Closed on all Mondays now/m, "when it is first seen to change");
    });

  test("counts again on the page on which it stays the same, whatever other pages show", () => {
    const line = (word: string) => quoted(quotes[0]!, `The word of the day is ${word} for everybody`);
    const { profile: learned } = run(line("moss"), [line("fern"), line("reed")]);
    let shared: SharedProfile | null = null;
    for (const page of ["a", "b", "c"]) shared = learnShared(shared, page, learned);
    assert.equal(withShared(NO_PROFILE, shared).lines.length, 1);
    let profile = NO_PROFILE;
    for (let runs = 0; runs < 13; runs += 1) {
      ({ profile } = run(line("moss"), [line("moss")], withShared(profile, shared)));
      shared = learnShared(shared, "d", profile);
    }
    assert.equal(
      run(line("moss"), [line("oak"), line("oak"), line("oak")], withShared(profile, shared)).isChanged,
      true,
    );
  });
});
