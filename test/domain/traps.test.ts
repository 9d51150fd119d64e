import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { BoundedCounts } from "../../src/domain/lane/bounded-counts.ts";
import { isPathTrap, NO_TRAPS, TRAP_LIMITS, Traps, type TrapState } from "../../src/domain/crawl/traps.ts";
import { shapeOf } from "../../src/domain/crawl/url-shape.ts";

const site = "https://site.example";
const MOST = 100_000;

/** Crawls a site that exists only as a rule of which page links where; stops when nothing is left, or at MOST pages. */
function crawl(linksOf: (path: string) => readonly string[], starts: readonly string[], limits = TRAP_LIMITS) {
  const traps = new Traps(limits);
  const pages = new Set(starts);
  const refused = new Map<string, number>();
  for (const page of pages) {
    const from = new URL(site + page);
    for (const link of linksOf(page)) {
      if (pages.has(link)) continue;
      const url = new URL(site + link);
      const why = traps.check(url, from);
      if (why === null && pages.size < MOST) {
        pages.add(link);
        traps.count(url, from);
      } else if (why !== null) refused.set(why, (refused.get(why) ?? 0) + 1);
    }
  }
  return { pages, refused, traps };
}

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

test("a shop with 20,000 numbered products in categories is crawled to its end", () => {
  const { pages, refused } = crawl(
    (path) => {
      const list = /^\/category\/(\w+)\?page=(\d+)$/.exec(path);
      if (path === "/") return ["a", "b", "c", "d", "e"].map((name) => `/category/${name}?page=1`);
      if (list !== null) {
        const [category, page] = [(list[1] ?? "").charCodeAt(0) - 97, Number(list[2])];
        const products = numbers(20, category * 4_000 + (page - 1) * 20).map((id) => `/product/${id}`);
        // 200 pages of a list, and each is found on the one before only.
        return page < 200 ? [`/category/${list[1]}?page=${page + 1}`, ...products] : products;
      }
      const product = Number(/\d+/.exec(path)?.[0]);
      // Related products, which are of the same kind.
      return [product + 1, product + 7, product * 3].map((id) => `/product/${id % 20_000}`);
    },
    ["/"],
  );
  assert.equal(pages.size, 1 + 1_000 + 20_000);
  assert.ok([...refused.keys()].every((why) => why === "trap_pattern"));
});

test("a list of 5,000 pages, each found on the one before, goes on as long as it shows something new", () => {
  const { pages } = crawl(
    (path) => {
      const page = Number(/^\/news\/page\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
      return page < 5_000 ? [`/news/page/${page + 1}`, `/story/${page}`] : [];
    },
    ["/news/page/1"],
  );
  assert.equal(pages.size, 5_000 + 4_999);
});

test("photos in numbered albums are below them, and no trap", () => {
  const { pages } = crawl(
    (path) => {
      if (path === "/") return numbers(500).map((album) => `/album/${album}`);
      return /^\/album\/\d+$/.test(path) ? numbers(20).map((photo) => `${path}/photo/${photo}`) : [];
    },
    ["/"],
  );
  assert.equal(pages.size, 1 + 500 + 10_000);
});

const month = (year: number, number: number) =>
  number > 12 ? `/calendar/${year + 1}/1` : number < 1 ? `/calendar/${year - 1}/12` : `/calendar/${year}/${number}`;

test("an endless calendar of months is left after a thousand", () => {
  const { pages, refused } = crawl(
    (path) => {
      const [, year, number] = /^\/calendar\/(\d+)\/(\d+)$/.exec(path) ?? [];
      if (year === undefined) return ["/calendar/2026/1"];
      return [month(Number(year), Number(number) + 1), month(Number(year), Number(number) - 1)];
    },
    ["/"],
  );
  assert.equal(pages.size, 1 + 1 + TRAP_LIMITS.ownKindPerPattern);
  assert.ok((refused.get("trap_pattern") ?? 0) > 0);
});

test("an endless calendar of months with days comes to an end as well", () => {
  const { pages } = crawl(
    (path) => {
      const [, year, number, day] = /^\/calendar\/(\d+)\/(\d+)(?:\/(\d+))?$/.exec(path) ?? [];
      if (year === undefined) return [];
      const next = month(Number(year), Number(number) + 1);
      if (day !== undefined) return [next, `${path.slice(0, path.lastIndexOf("/"))}/${(Number(day) % 28) + 1}`];
      return [next, ...numbers(28, 1).map((each) => `${path}/${each}`), `/login?next=${encodeURIComponent(path)}`];
    },
    ["/calendar/2026/1"],
  );
  assert.ok(pages.size < 1_100 * 30, `${pages.size} pages`);
});

test("numbers below numbers, a tree without end, are left after a while", () => {
  const limits = { ...TRAP_LIMITS, ownKindPerPattern: 50 };
  const { pages } = crawl((path) => numbers(6).map((index) => `${path}/${index}`), ["/tree"], limits);
  // Three levels are taken whole; of each one below, as many as of any kind.
  assert.ok(pages.size <= 1 + 6 + 36 + 216 + 26 * 50, `${pages.size} pages`);
});

test("a calendar in the query, whose every day leads to something new elsewhere, ends after 27 years of days", () => {
  const { pages } = crawl(
    (path) => {
      const day = Number(/^\/events\?day=(\d+)$/.exec(path)?.[1] ?? Number.NaN);
      return Number.isNaN(day) ? [] : [`/events?day=${day + 1}`, `/weather/${day}`];
    },
    ["/events?day=1"],
  );
  assert.equal(pages.size, 1 + TRAP_LIMITS.datedPerPattern + TRAP_LIMITS.datedPerPattern + 1);
});

test("numbered pages that lead only to each other are left, unless they are worth it", () => {
  const comic = (path: string) => [`/comic/${Number(path.slice(7)) + 1}`];
  assert.equal(crawl(comic, ["/comic/1"]).pages.size, 1_001);
  const traps = new Traps();
  const url = (id: number) => new URL(`${site}/comic/${id}`);
  for (const id of numbers(3_000, 1)) {
    assert.equal(traps.check(url(id + 1), url(id)), null);
    traps.count(url(id + 1), url(id));
    traps.earn(url(id));
  }
});

test("what is refused on a page of its own kind is let in from elsewhere", () => {
  const { traps } = crawl((path) => [`/item/${Number(path.slice(6)) + 1}`], ["/item/1"]);
  const url = new URL(`${site}/item/999999`);
  assert.equal(traps.check(url, new URL(`${site}/item/1`)), "trap_pattern");
  assert.equal(traps.check(url, new URL(`${site}/`)), null);
  assert.equal(traps.check(url, null), null);
});

/** A different word for every number, without digits. */
function word(index: number): string {
  return [...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("");
}

test("pages named by words are never counted as one kind", () => {
  const chain = numbers(3_000).map((index) => new URL(`${site}/2026/05/12/on-${word(index)}`));
  const traps = new Traps();
  for (const [index, url] of chain.entries()) {
    assert.equal(traps.check(url, chain[index - 1] ?? null), null, url.href);
    traps.count(url, chain[index - 1] ?? null);
  }
});

test("freely combined parameters stop at a thousand combinations of a path, single ones and numbers never", () => {
  const from = new URL(`${site}/start`);
  const taken = (queries: readonly string[], path = "/shoes") => {
    const traps = new Traps();
    return queries.filter((query) => {
      const url = new URL(`${site}${path}?${query}`);
      const why = traps.check(url, from);
      if (why === null) traps.count(url, from);
      else assert.equal(why, "trap_query");
      return why === null;
    }).length;
  };
  assert.equal(taken(numbers(3_000).map((index) => `brand=${word(index)}&sort=up`)), TRAP_LIMITS.queriesPerPath);
  assert.equal(taken(numbers(3_000).map((index) => `title=${word(index)}`)), 3_000);
  assert.equal(taken(numbers(3_000).map((index) => `id=${index}&lang=en`)), 3_000);
  assert.equal(
    taken(
      numbers(3_000).map((index) => `next=%2Fpage%2F${word(index)}`),
      "/login",
    ),
    1_000,
  );
  assert.equal(
    taken([
      numbers(31)
        .map((index) => `p${index}=1`)
        .join("&"),
      numbers(30)
        .map((i) => `p${i}=1`)
        .join("&"),
    ]),
    1,
  );
});

const PATHS: [path: string, trap: boolean][] = [
  ["/", false],
  ["/a/b/c", false],
  ["/a/b/a/b", false],
  ["/a/b/a/b/a/b", true],
  ["/x/a/b/a/b/a/b/y", true],
  ["/a/b/c/a/b/c/a/b/c", true],
  ["/a/b/c/a/b/c/a/b/d", false],
  ["/1/1/1", false],
  ["/en/en/en/en", true],
  ["/2011/11/11", false],
  ["/in/a/in/b/in/c/in/d/in/e", false],
  ["/in/a/in/b/in/c/in/d/in/e/in", true],
  ["//a//b//a//b//a//b", true],
  [`/${numbers(30).join("/")}`, false],
  [`/${numbers(31).join("/")}`, true],
];
for (const [path, trap] of PATHS) {
  test(`the path ${path.slice(0, 40)} is ${trap ? "a trap" : "fine"}`, () => assert.equal(isPathTrap(path, 30), trap));
}

const SHAPES: [address: string, pattern: string, family: string, dated?: boolean][] = [
  ["/blog/spring", "/blog/spring", "/blog/spring"],
  ["/item/12", "/item/{n}", "/item/"],
  ["/item-12.html", "/item-{n}.html", "/item-"],
  ["/p/550e8400-e29b-41d4-a716-446655440000", "/p/{uuid}", "/p/"],
  ["/c/deadbeef01", "/c/{hex}", "/c/"],
  ["/c/facade", "/c/facade", "/c/facade"],
  ["/d/2026-05-12/x", "/d/{date}/x", "/d/", true],
  ["/d/2026-05", "/d/{date}", "/d/", true],
  ["/calendar/2031/7", "/calendar/{n}/{n}", "/calendar/", true],
  ["/part/2031/77", "/part/{n}/{n}", "/part/"],
  ["/t/aB3dE5fG7hJ9kL1mN3pQ", "/t/{token}", "/t/"],
  ["/top-10-in-2026", "/top-{n}-in-{n}", "/top-"],
  ["/%E4%B8%AD", "/%E4%B8%AD", "/%E4%B8%AD"],
  ["/list?page=2&sort=up", "/list?page={n}&sort=up", "/list?page="],
  ["/e?month=5&year=2031", "/e?month={n}&year={n}", "/e?month=", true],
  ["/e?to=5th", "/e?to={n}th", "/e?to="],
  ["/login?next=%2Fa", "/login?next={address}", "/login?next="],
];
for (const [address, pattern, family, dated = false] of SHAPES) {
  test(`the shape of ${address} is ${pattern}`, () => {
    const shape = shapeOf(new URL(site + address));
    assert.equal(shape.pattern, `site.example${pattern}`);
    assert.equal(shape.family, `site.example${family}`);
    assert.equal(shape.dated, dated);
  });
}

test("what was counted survives a restart, as JSON", () => {
  const { traps } = crawl((path) => [`/item/${Number(path.slice(6)) + 1}`], ["/item/1"]);
  const again = new Traps(TRAP_LIMITS, JSON.parse(JSON.stringify(traps.state())) as TrapState);
  assert.deepEqual(again.state(), traps.state());
  assert.equal(again.check(new URL(`${site}/item/7000`), new URL(`${site}/item/1`)), "trap_pattern");
  const strange = { ...traps.state(), version: 2 } as unknown as TrapState;
  assert.deepEqual(new Traps(TRAP_LIMITS, strange).state(), NO_TRAPS);
});

test("a hostile site cannot make the counters grow [slow]", () => {
  const traps = new Traps();
  for (const index of numbers(20_000)) {
    const name = word(index);
    const from = new URL(`${site}/${name}/1`);
    traps.count(new URL(`${site}/${name}/${"x".repeat(1_000)}/2?a=${name}&b=c`), from);
    traps.count(new URL(`${site}/${name}/3`), from);
  }
  assert.ok(JSON.stringify(traps.state()).length < 2_000_000);
});

test("bounded counts are never too high, and too low by no more than they may be", () => {
  const name = fc.integer({ min: 0, max: 30 }).map((number) => `n${Math.floor(Math.sqrt(number * number * 3))}`);
  const capacity = 8;
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.integer({ min: 1, max: 5 }))), fc.nat(), (added, cut) => {
      const truth = new Map<string, number>();
      for (const [key, amount] of added) truth.set(key, (truth.get(key) ?? 0) + amount);
      const total = added.reduce((sum, [, amount]) => sum + amount, 0);
      const counted = (some: typeof added) => {
        const counts = new BoundedCounts(capacity);
        for (const [key, amount] of some) counts.add(key, amount);
        return counts;
      };
      const at = added.length === 0 ? 0 : cut % added.length;
      const merged = counted(added.slice(0, at));
      merged.merge(counted(added.slice(at)).pairs());
      for (const counts of [counted(added), merged]) {
        assert.ok(counts.size <= capacity);
        for (const [key, real] of truth) {
          assert.ok(counts.get(key) <= real);
          assert.ok(counts.get(key) >= real - total / (capacity + 1), `${key}: ${counts.get(key)} of ${real}`);
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

test("names that are long are told apart all the same", () => {
  const counts = new BoundedCounts(10);
  const long = "x".repeat(500);
  counts.add(`${long}a`);
  counts.add(`${long}b`, 2);
  assert.deepEqual([counts.get(`${long}a`), counts.get(`${long}b`), counts.get(long)], [1, 2, 0]);
  assert.deepEqual(new BoundedCounts(10, counts.pairs()).get(`${long}b`), 2);
});
