/**
 * Kinds of noise and of real changes that the rules of monitors are measured by, written when the rules were done. Do not
 * tune the rules on them: those for that are in `monitor-families.ts` and `monitor-more-families.ts`. If you have looked at
 * single failures of these, move them there and write others.
 */
import { between, type ChangeFamily, hex, type NoiseFamily, replaceOne, shuffled, some } from "./monitor-families.ts";
import { type Chance, pick } from "./monitor-pairs.ts";

const TITLES = [
  "A bridge for eels",
  "The clockmaker’s second shop",
  "Why the ferry is late",
  "Bread from the old mill",
  "Painting with river clay",
  "Nine stairs and a tower",
  "The last tram to the coast",
  "How to tune a bell",
  "Gardens above the garage",
  "Letters from the lighthouse",
];
const DISHES = ["Pea soup", "Plum dumplings", "Baked cod", "Potato pancakes", "Lentil stew", "Apple strudel"];
const PLACES = ["North hall", "Old harbour", "Town square", "Riverside", "Upper park", "Station yard"];
const SAYINGS = [
  "A rolling stone gathers no moss.",
  "Many hands make light work.",
  "Still waters run deep.",
  "Every cloud has a silver lining.",
  "The early bird catches the worm.",
  "Rome was not built in a day.",
  "Actions speak louder than words.",
];
const slug = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z]+/g, "-")
    .replace(/-$/, "");
const card = (title: string, index: number) =>
  `<article class="teaser"><img src="/img/${slug(title)}.jpg" alt=""><h4><a href="/read/${slug(title)}">${title}</a></h4><p>Reading time ${3 + (index % 7)} min</p></article>`;

export const FURTHER_NOISE: Readonly<Record<string, NoiseFamily>> = {
  "teasers to read next": (page) => {
    const titles = shuffled(page, TITLES);
    return ({ random: r }) =>
      `<section><h3>Read next</h3>${some(r, titles, 3)
        .map((title) => card(title, title.length))
        .join("")}</section>`;
  },
  "a grid without classes, in any order": (page) => {
    const titles = some(page, TITLES, 5);
    return ({ random: r }) =>
      `<div>${shuffled(r, titles)
        .map((title) => `<div><a href="/read/${slug(title)}">${title}</a></div>`)
        .join("")}</div>`;
  },
  "one saying": (page) => {
    const sayings = some(page, SAYINGS, 5);
    return ({ random: r }) => `<blockquote><p>${pick(r, sayings)}</p></blockquote>`;
  },
  "a plain line of a pool": (page) => {
    const sayings = shuffled(page, SAYINGS);
    return ({ random: r }) => `<p>${pick(r, sayings)}</p>`;
  },
  "a dish with a price": (page) => {
    const dishes = some(page, DISHES, 5);
    return ({ random: r }) => {
      const dish = pick(r, dishes);
      return `<div class="tip"><strong>Our tip</strong><div>${dish}</div><div>€${dish.length}.50</div></div>`;
    };
  },
  "places as a definition list": (page) => {
    const places = some(page, PLACES, 4);
    return ({ random: r }) =>
      `<dl>${shuffled(r, places)
        .map((place) => `<dt>${place}</dt><dd>Line ${place.length}</dd>`)
        .join("")}</dl>`;
  },
  "two layouts": (page) => {
    const title = pick(page, TITLES);
    return ({ random: r }) =>
      r() < 0.5
        ? `<div class="box"><h4>${title}</h4><p>Now open to everybody</p></div>`
        : `<div class="box"><p>Now open to everybody</p><h4>${title}</h4></div>`;
  },
  "a line with three things that vary": () => {
    return ({ random: r }) =>
      `<p>Ticket ${hex(r, 4)} for the visit to the ${pick(r, PLACES)} is handled by desk ${between(r, 1, 40)} of our house</p>`;
  },
  "a select with shuffled options": (page) => {
    const places = some(page, PLACES, 5);
    return ({ random: r }) =>
      `<form><label>Branch</label><select>${shuffled(r, places)
        .map((place) => `<option>${place}</option>`)
        .join("")}</select></form>`;
  },
  "a comma-separated list": (page) => {
    const dishes = shuffled(page, DISHES);
    return ({ random: r }) => `<p class="also">Also on the menu: ${some(r, dishes, 3).join(", ")}</p>`;
  },
  "an advertisement between lines": (page) => {
    const titles = shuffled(page, TITLES);
    return ({ random: r }) =>
      r() < 0.3
        ? ""
        : `<div data-slot="mid"><div>Anzeige</div><a href="https://ads.example/${hex(r, 10)}"><div>${pick(r, titles)}</div></a></div>`;
  },
  "a photo with its author": (page) => {
    const places = shuffled(page, PLACES);
    return ({ random: r }) =>
      `<figure><img src="/p/${hex(r, 8)}.jpg" alt="Photo"><figcaption>${pick(r, places)}, by ${pick(r, ["Ada", "Ben", "Cleo", "Dan"])}</figcaption></figure>`;
  },
};

const one =
  (pattern: RegExp, by: (found: RegExpMatchArray, random: Chance) => string): ChangeFamily["make"] =>
  (page, random) =>
    replaceOne(page, random, pattern, by);

export const FURTHER_CHANGES: Readonly<Record<string, ChangeFamily>> = {
  "a notice at the start of a list entry": {
    what: ["text", "markdown"],
    make: one(/(?<=<li\b[^>]*>)(?!\s*<\/li>)/g, () => "<strong>Postponed</strong> "),
  },
  "an entry in place of another": {
    what: ["text", "markdown"],
    make: one(/(?<=<(?:li|td|dd)\b[^>]*>)[^<>]{3,}(?=<\/(?:li|td|dd)>)/g, () => "By appointment only"),
  },
  "a price struck": {
    what: ["text", "markdown"],
    make: one(/€\d+\.\d\d/g, () => "on request"),
  },
  "a paragraph in other words": {
    what: ["text", "markdown"],
    make: one(/(?<=<p\b[^>]*>)[^<>]{20,}(?=<\/p>)/g, () => "This has been taken over by the harbour office."),
  },
  "half a paragraph": {
    what: ["text", "markdown"],
    make: one(/(?<=<p\b[^>]*>[^<>]{20,}\.) [^<>]{20,}(?=<\/p>)/g, () => ""),
  },
  "a number more by one": {
    what: ["text", "markdown"],
    make: one(/(?<=<(?:p|li|td|dd|span)\b[^>]*>[^<>]{0,40}\b)\d{1,3}\b(?![^<>]*[:.]\d)(?=[^<>]*<)/g, (found) =>
      String(Number(found[0]) + 1),
    ),
  },
  "a row less": {
    what: ["text", "markdown"],
    make: one(/<tr\b[^>]*>(?:(?!<tr\b)[^])*?<\/tr>|<dt\b[^>]*>[^<]*<\/dt>\s*<dd\b[^>]*>[^<]*<\/dd>/g, () => ""),
  },
  "a link less": {
    what: ["links", "markdown"],
    make: one(/<a\b[^>]*href="[^"#]+"[^>]*>([^<>]+)<\/a>/g, (found) => found[1]!),
  },
};
