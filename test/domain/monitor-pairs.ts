/** Pairs of pages that differ in noise alone, or in one small thing besides: made from the demo's pages and stored ones. */
import { readdirSync, readFileSync } from "node:fs";
import { BOOKS, CATEGORIES } from "../../src/demo/books.ts";
import { bookPage, frontPage, listPage } from "../../src/demo/shop-pages.ts";
import { compilePlan } from "../../src/extract/plan.ts";
import { extractPage } from "../../src/extract/page.ts";

/** Numbers from 0 to below 1, the same for the same seed. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Chance = () => number;
export const pick = <T>(random: Chance, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const whole = (random: Chance, most: number) => Math.floor(random() * most);

const STORED = ["../fixtures/pages/plain/", "../extract/pages/"].map((path) => new URL(path, import.meta.url));

export const PAGES: readonly string[] = [
  frontPage("first"),
  ...CATEGORIES.map((category) => listPage(category, 1, "first")!),
  ...BOOKS.slice(0, 12).map((book) => bookPage(book, "first")),
  ...BOOKS.slice(12, 20).map((book) => bookPage(book, "second")),
  ...STORED.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".html"))
      .map((name) => readFileSync(new URL(name, folder), "utf8"))
      .filter((text) => text.length > 1200),
  ),
];

const MONTH_NAMES = "January February March April June July August September October November".split(" ");
const hex = (random: Chance, length: number) => Array.from({ length }, () => whole(random, 16).toString(16)).join("");
const SLOGANS = [
  "Win a holiday on the moon",
  "Cheaper shoes for faster cats",
  "Seven reasons to insure your kite",
  "Fresh bread by drone, before breakfast",
  "Learn the tuba in a weekend",
  "Your neighbours already have a goat",
];

/** Each gives other HTML at every fetch. */
export const NOISE: readonly ((random: Chance) => string)[] = [
  (r) =>
    `<p>Page generated on ${1 + whole(r, 28)} ${pick(r, MONTH_NAMES)} 2026 at ${whole(r, 24)}:${10 + whole(r, 50)}:${10 + whole(r, 50)} UTC</p>`,
  (r) => `<p>Updated 2026-0${1 + whole(r, 9)}-${10 + whole(r, 18)}T1${whole(r, 10)}:${10 + whole(r, 50)}:00Z</p>`,
  (r) => `<p>Posted ${2 + whole(r, 50)} ${pick(r, ["minutes", "hours", "days", "weeks"])} ago</p>`,
  (r) => `<p>${pick(r, MONTH_NAMES)} ${1 + whole(r, 28)}, 2026</p>`,
  (r) => `<div><span>${(1000 + whole(r, 900_000)).toLocaleString("en")}</span> views</div>`,
  (r) => `<p>${2 + whole(r, 400)} comments · ${2 + whole(r, 90)}.${whole(r, 10)}k likes</p>`,
  (r) => `<div><div>${1 + whole(r, 9000)}</div><div>Followers</div></div>`,
  (r) => `<p>${2 + whole(r, 70)} people are viewing this page</p>`,
  (r) => `<p><a href="/account?next=%2F&amp;sid=${hex(r, 26)}">Sign in to your account</a></p>`,
  (r) => `<p><a href="/newsletter?utm_source=s${whole(r, 999)}&amp;token=${hex(r, 32)}">Read our letter</a></p>`,
  (r) => `<p>Request ID: ${hex(r, 8)}-${hex(r, 4)}</p>`,
  (r) => `<p>Session ${hex(r, 8)}-${hex(r, 4)}-${hex(r, 4)}-${hex(r, 4)}-${hex(r, 12)}</p>`,
  (r) => `<form><input type="hidden" name="csrf" value="${hex(r, 40)}"><p>Ask us anything.</p></form>`,
  // Learned, not built in.
  (r) => `<div class="promo"><p>Sponsored</p><p>${pick(r, SLOGANS)} (${whole(r, 999)})</p></div>`,
  (r) =>
    `<aside><p>Advertisement</p>${Array.from({ length: 1 + whole(r, 3) }, () => `<p>${pick(r, SLOGANS)} ${whole(r, 99)}</p>`).join("")}</aside>`,
  (r) => `<p>You are visitor number ${whole(r, 1e6)} of this quiet little site.</p>`,
  (r) => `<p>Served by node-${hex(r, 5)} in ${1 + whole(r, 300)} ms</p>`,
  (r) =>
    `<p>Quote of the moment: ${pick(r, SLOGANS)}, said ${pick(r, ["Ann", "Bert", "Carl", "Dora"])} ${whole(r, 999)}.</p>`,
];

export type What = "text" | "markdown" | "links";

export function contentOf(page: string, what: What): Buffer {
  const plan = compilePlan({ fields: null, links: false, monitor: { what, exclude: [], only_main_content: false } });
  const { monitored } = extractPage({ body: page, contentType: "text/html", url: "https://a.example/page" }, plan);
  return Buffer.from(monitored ?? "");
}

const between = (page: string, pattern: RegExp) => [...page.matchAll(pattern)];

function replaceAt(page: string, { index, 0: old }: RegExpExecArray, by: string): string {
  return page.slice(0, index) + by + page.slice(index + old.length);
}

/** Small real changes; null: the page has nothing of the kind. */
export const CHANGES: Readonly<
  Record<string, { what: readonly What[]; make(page: string, random: Chance): string | null }>
> = {
  "a price": {
    what: ["text", "markdown"],
    make(page, random) {
      const prices = between(page, /€(\d+)\.(\d\d)/g);
      if (prices.length === 0) return null;
      const price = pick(random, prices);
      return replaceAt(page, price, `€${Number(price[1]) + 1 + whole(random, 5)}.${price[2]}`);
    },
  },
  "a word": {
    what: ["text", "markdown"],
    make(page, random) {
      const words = between(page, /(?<=[>\s])[a-z]{4,12}(?=[\s.,<])(?=[^<>]*<\/(?:p|li|h1|h2|h3|td|a|dd)>)/g);
      return words.length === 0 ? null : replaceAt(page, pick(random, words), "zebra");
    },
  },
  "a number": {
    what: ["text", "markdown"],
    make(page, random) {
      const numbers = between(page, /(?<=[>\s])\d{1,3}(?=\s[a-z]+[^<>]*<\/(?:p|li|td|dd)>)/g);
      return numbers.length === 0 ? null : replaceAt(page, pick(random, numbers), String(1000 + whole(random, 100)));
    },
  },
  "a removed list item": {
    what: ["text", "markdown"],
    make(page, random) {
      const items = between(page, /<li\b[^>]*>(?:(?!<li\b)[^])*?<\/li>/g);
      return items.length === 0 ? null : replaceAt(page, pick(random, items), "");
    },
  },
  "a new paragraph": {
    what: ["text", "markdown"],
    make(page, random) {
      const starts = between(page, /<(?:p|h2|ul)\b/g);
      if (starts.length === 0) return null;
      const start = pick(random, starts);
      return replaceAt(page, start, `<p>Closed for stocktaking.</p>${start[0]}`);
    },
  },
  "a removed paragraph": {
    what: ["text", "markdown"],
    make(page, random) {
      const items = between(page, /<p\b[^>]*>(?:(?!<p\b)[^])*?<\/p>/g);
      return items.length === 0 ? null : replaceAt(page, pick(random, items), "");
    },
  },
  "a link target": {
    what: ["links", "markdown"],
    make(page, random) {
      const links = between(page, /(?<=<a [^>]*href=")[^"#]+(?=")/g);
      return links.length === 0 ? null : replaceAt(page, pick(random, links), `/moved/${whole(random, 1000)}`);
    },
  },
};
