/**
 * Kinds of noise and of real changes that the rules of monitors are measured by, written when the rules were done. Do not
 * tune the rules on them: those for that are in the other files of families. If you have looked at single failures of
 * these, move them there and write others.
 */
import { between, type ChangeFamily, hex, type NoiseFamily, replaceOne, shuffled, some } from "./monitor-families.ts";
import { type Chance, pick } from "./monitor-pairs.ts";

const SONGS = "Harvest Moon|Cold Water|Paper Boats|Seven Bridges|Winter Light|Tin Roof|Slow Train|Salt and Sand".split(
  "|",
);
const FACTS = [
  "Otters hold hands while they sleep.",
  "Honey keeps for thousands of years.",
  "A day on Venus is longer than its year.",
  "Bananas are berries, strawberries are not.",
  "The first alarm clock rang at four only.",
  "Cows have best friends.",
];
const BRANDS = "Nordlys Ferrum Papagena Quillon Brisa Tarn Ostara Veld".split(" ");
const CITIES = "Aarhus Basel Cadiz Dresden Evora Faro Gdansk Hull".split(" ");

export const HELD_OUT_NOISE: Readonly<Record<string, NoiseFamily>> = {
  "a player with the next songs": (page) => {
    const songs = some(page, SONGS, 6);
    return ({ random: r }) =>
      `<div class="player"><span class="now">Now playing</span><ol class="queue">${shuffled(r, songs)
        .map((song) => `<li><span>${song}</span><span>3:${10 + song.length}</span></li>`)
        .join("")}</ol></div>`;
  },
  "did you know": (page) => {
    const facts = shuffled(page, FACTS);
    return ({ random: r }) => `<aside><h4>Did you know?</h4><p>${pick(r, facts)}</p></aside>`;
  },
  "logos of some brands": (page) => {
    const brands = shuffled(page, BRANDS);
    return ({ random: r }) =>
      `<div class="logos">${some(r, brands, 4)
        .map(
          (brand) => `<a href="/brand/${brand.toLowerCase()}"><img src="/l/${brand}.svg" alt="${brand}"> ${brand}</a>`,
        )
        .join(" ")}</div>`;
  },
  "a city in a sentence": (page) => {
    const cities = some(page, CITIES, 6);
    return ({ random: r }) => `<p>Somebody in ${pick(r, cities)} is reading this page as well.</p>`;
  },
  "an advertisement of some lines": (page) => {
    const brands = shuffled(page, BRANDS);
    return ({ random: r }) => {
      const brand = pick(r, brands);
      return `<div class="partner-box"><div>${brand}</div><div>${pick(r, FACTS)}</div><div><a href="https://${brand.toLowerCase()}.example/?c=${hex(r, 8)}">Visit ${brand}</a></div></div>`;
    };
  },
  "a table of cities in any order": (page) => {
    const cities = some(page, CITIES, 5);
    return ({ random: r }) =>
      `<table><tbody>${shuffled(r, cities)
        .map((city) => `<tr><td>${city}</td><td>${city.length * 3} shops</td></tr>`)
        .join("")}</tbody></table>`;
  },
  "a note for some visitors": () => {
    return ({ random: r }) => (r() < 0.6 ? `<p class="note">You are seeing our new design.</p>` : "");
  },
  "a queue number": () => {
    return ({ random: r }) => `<div>Your place in the queue is ${between(r, 10, 9999)}</div>`;
  },
  "chips to search for": (page) => {
    const cities = shuffled(page, CITIES);
    return ({ random: r }) =>
      `<ul class="chips">${some(r, cities, between(r, 3, 5))
        .map((city) => `<li><a href="/search?q=${city}">${city}</a></li>`)
        .join("")}</ul>`;
  },
  "a review among many": (page) => {
    const brands = some(page, BRANDS, 6);
    return ({ random: r }) =>
      `<section class="review"><p>${pick(r, FACTS)}</p><footer>${pick(r, brands)}, ${pick(r, CITIES)}</footer></section>`;
  },
};

const one =
  (pattern: RegExp, by: (found: RegExpMatchArray, random: Chance) => string): ChangeFamily["make"] =>
  (page, random) =>
    replaceOne(page, random, pattern, by);

export const HELD_OUT_CHANGES: Readonly<Record<string, ChangeFamily>> = {
  "an entry at the start of a list": {
    what: ["text", "markdown"],
    make: one(/<ul\b[^>]*>|<ol\b[^>]*>/g, (found) => `${found[0]}<li>Opening soon: the annex</li>`),
  },
  "a cheaper price": {
    what: ["text", "markdown"],
    make: one(/(?<=€)\d+(?=\.\d\d)/g, (found) => String(Math.max(1, Number(found[0]) - 2))),
  },
  "a name in other words": {
    what: ["text", "markdown"],
    make: one(/(?<=<(?:a|strong|b|h[1-4])\b[^>]*>)[^<>]{4,}(?=<\/(?:a|strong|b|h[1-4])>)/g, () => "The Blue Annex"),
  },
  "two words less": {
    what: ["text", "markdown"],
    make: one(/(?<=<(?:p|li|td)\b[^>]*>[^<>]*[a-z]) [a-z]+ [a-z]+(?= [a-z]+[^<>]*<\/(?:p|li|td)>)/g, () => ""),
  },
  "a paragraph twice as long": {
    what: ["text", "markdown"],
    make: one(
      /(?<=<p\b[^>]*>[^<>]{20,})(?=<\/p>)/g,
      () => " Since May, the annex is closed. Please use the side door instead.",
    ),
  },
  "a paragraph less": {
    what: ["text", "markdown"],
    make: one(/<p\b[^>]*>[^<>]{20,}<\/p>/g, () => ""),
  },
  "a new target": {
    what: ["links", "markdown"],
    make: one(/(?<=<a [^>]*href=")\/[^"#]+(?=")/g, (_, r) => `/annex/${between(r, 1, 99)}`),
  },
};
