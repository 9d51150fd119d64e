/**
 * Pairs of pages of other kinds than those in `monitor-pairs.ts`: every kind has noise where sites of that kind have it,
 * and changes that its readers would want to know.
 */
import { type Chance, pick } from "./monitor-pairs.ts";

const whole = (random: Chance, most: number) => Math.floor(random() * most);
const between = (random: Chance, least: number, most: number) => least + whole(random, most - least + 1);
const hex = (random: Chance, length: number) => Array.from({ length }, () => whole(random, 16).toString(16)).join("");
const some = <T>(random: Chance, list: readonly T[], count: number): T[] => shuffled(random, list).slice(0, count);

function shuffled<T>(random: Chance, list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(whole(random, left.length), 1)[0]!);
}

/** When a page is fetched. */
interface Fetch {
  /** Milliseconds since 1970. */
  at: number;
  random: Chance;
}

const DAY_MS = 86_400_000;
const iso = (at: number) => new Date(at).toISOString();
const day = (at: number) =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const clock = (at: number) => iso(at).slice(11, 16);

const NOUNS = "harbour lantern orchard kettle railway compass meadow archive violin bakery glacier ferry".split(" ");
const VERBS = "opens closes repairs replaces extends moves restores measures".split(" ");
const ADJECTIVES = "old new northern wooden quiet public early heavy".split(" ");

const sentence = (random: Chance) =>
  `The ${pick(random, ADJECTIVES)} ${pick(random, NOUNS)} ${pick(random, VERBS)} the ${pick(random, NOUNS)} near the ${pick(random, ADJECTIVES)} ${pick(random, NOUNS)}.`;
const paragraph = (random: Chance) => Array.from({ length: between(random, 2, 5) }, () => sentence(random)).join(" ");
const heading = (random: Chance) => `${pick(random, ADJECTIVES)} ${pick(random, NOUNS)} ${pick(random, NOUNS)}`;

const TESTIMONIALS = [
  "“Arrived in two days and works well.” — M. from the coast",
  "“My whole family uses it, every morning.” — a teacher",
  "“I was sceptical, now I have three of them.” — R. K.",
  "“The support answered on a Sunday!” — a happy customer",
  "“Would buy again.” — L.",
  "“Sturdy, simple, and easy to clean.” — a chef",
];
const ADVERTS = [
  "Trousers that fit, or your money back",
  "Save the forest with every cup",
  "Get a loan in five minutes",
  "Three months of radio for the price of one",
  "Find the right insurance for your boat",
];
const PRODUCTS = "Milk jug|Tea towel|Bread knife|Oven glove|Salt mill|Egg cup|Cake stand|Soup ladle|Rolling pin".split(
  "|",
);

/** One fetch shows another of these; each is a function of the fetch alone. */
export const SITE_NOISE: Readonly<Record<string, (fetch: Fetch) => string>> = {
  testimonial: ({ random: r }) =>
    `<section><h3>What our customers say</h3><blockquote>${pick(r, TESTIMONIALS)}</blockquote></section>`,
  "relative times": ({ random: r }) => {
    const n = between(r, 2, 50);
    const text = pick(r, [
      `${n} minutes ago`,
      `vor ${n} Stunden`,
      `il y a ${n} jours`,
      `hace ${n} horas`,
      `${n} uur geleden`,
      `há ${n} minutos`,
      `${n} minuti fa`,
      `${n} часов назад`,
      `${n}分前`,
      `${n} dakika önce`,
      `för ${n} timmar sedan`,
      `${n} godzin temu`,
      "yesterday",
      "gestern",
      "just now",
    ]);
    return `<p class="time">${text}</p>`;
  },
  "relative time in a line": ({ random: r }) =>
    `<p>Last order: ${between(r, 2, 55)} ${pick(r, ["minutes", "hours"])} ago from ${pick(r, ["Oslo", "Turin", "Ghent", "Cork"])}</p>`,
  "view counter": ({ random: r }) =>
    `<p>${between(r, 1000, 99_999).toLocaleString(pick(r, ["en", "de", "fr"]))} views</p>`,
  "counter with an icon": ({ random: r }) => `<span class="count" title="views">👁 ${between(r, 100, 9999)}</span>`,
  "visits so far": ({ random: r }) => `<p>Visitors today: ${between(r, 10, 999)}</p>`,
  "CSRF token": ({ random: r }) =>
    `<form action="/subscribe" method="post"><input type="hidden" name="authenticity_token" value="${hex(r, 64)}"><label>Your email <input name="email"></label><button>Subscribe</button></form>`,
  "A/B classes": ({ random: r }) =>
    `<div class="css-${hex(r, 6)} variant-${pick(r, ["a", "b"])}" data-experiment="${hex(r, 8)}"><p>Free returns within 30 days.</p></div>`,
  "A/B wording": ({ random: r }) => `<button>${pick(r, ["Buy now", "Add to basket", "Add to cart"])}</button>`,
  "advert slot": ({ random: r }) =>
    `<aside class="ad"><p>Advertisement</p>${some(r, ADVERTS, between(r, 1, 2))
      .map((text) => `<p><a href="https://ads.example/c/${hex(r, 12)}">${text}</a></p>`)
      .join("")}</aside>`,
  "empty advert slot": ({ random: r }) => `<div id="slot-3">${r() < 0.5 ? "" : `<p>${pick(r, ADVERTS)}</p>`}</div>`,
  "people who viewed": ({ random: r }) =>
    `<section><h3>Customers who viewed this also viewed</h3><ul>${some(r, PRODUCTS, 4)
      .map(
        (name) => `<li><a href="/p/${name.toLowerCase().replace(" ", "-")}?ref=also_${hex(r, 10)}1">${name}</a></li>`,
      )
      .join("")}</ul></section>`,
  "shuffled list": ({ random: r }) =>
    `<section><h3>Our partners</h3><ul>${shuffled(r, ["Acme", "Borealis", "Cedar & Sons", "Delta Works", "Eiger"])
      .map((name) => `<li>${name}</li>`)
      .join("")}</ul></section>`,
  "session id": ({ random: r }) =>
    `<p><a href="/basket;jsessionid=${hex(r, 32).toUpperCase()}?step=1">Basket</a> <a href="/help?PHPSESSID=${hex(r, 26)}">Help</a></p>`,
  "lazy image": ({ random: r }) =>
    `<img alt="A picture of the place" class="lazy" src="data:image/gif;base64,${hex(r, 20)}" data-src="/i/${hex(r, 16)}.jpg?v=${between(r, 1e9, 2e9)}"><noscript><img alt="A picture of the place" src="/i/1.jpg"></noscript>`,
  "cookie banner": ({ random: r }) =>
    r() < 0.5
      ? ""
      : `<div id="cookie-banner" class="cookie-consent" role="dialog"><p>We use cookies to improve your experience.</p><button>Accept all</button><button>Reject</button></div>`,
  today: ({ at }) =>
    `<p class="today">${pick(() => 0.5, [new Date(at).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })])}</p>`,
  "time of the fetch": ({ at }) =>
    `<footer><p>Page rendered at ${iso(at).slice(0, 19).replace("T", " ")} in ${whole(() => (at % 977) / 977, 400)} ms</p></footer>`,
  clock: ({ at }) => `<p>Local time: ${clock(at)}</p>`,
  copyright: ({ at }) => `<p>© ${iso(at).slice(0, 4)} The Company</p>`,
  "people watching": ({ random: r }) => `<p>${between(r, 2, 40)} people are looking at this right now</p>`,
  "request id": ({ random: r }) =>
    `<p><small>Ref. ${hex(r, 8)}-${hex(r, 4)}-${hex(r, 4)}-${hex(r, 4)}-${hex(r, 12)}</small></p>`,
  weather: ({ random: r }) => `<p>Weather: ${pick(r, ["sunny", "rain", "fog", "cloudy"])}, ${between(r, -5, 25)}°C</p>`,
  "rating count": ({ random: r }) => `<p>★★★★☆ (${between(r, 100, 999)} reviews)</p>`,
};

/** A page as it is without noise: its blocks, where `parts` may change. */
export interface SitePage {
  kind: string;
  title: string;
  blocks: string[];
}

const KINDS: Readonly<Record<string, (random: Chance, at: number) => string[]>> = {
  article: (r, at) => [
    `<h1>${heading(r)}</h1>`,
    `<p>By A. Writer, ${day(at - between(r, 1, 300) * DAY_MS)}</p>`,
    ...Array.from({ length: between(r, 4, 9) }, () => `<p>${paragraph(r)}</p>`),
    `<p>Read more in <a href="/archive/${whole(r, 500)}">our archive of the ${pick(r, NOUNS)}</a>.</p>`,
  ],
  product: (r) => [
    `<h1>${pick(r, PRODUCTS)} ${pick(r, ADJECTIVES)}</h1>`,
    `<p class="price">${pick(r, ["$", "€", "£"])}${between(r, 3, 300)}.${between(r, 10, 99)}</p>`,
    `<p class="stock">${between(r, 3, 60)} in stock</p>`,
    `<p>${paragraph(r)}</p>`,
    `<table><tr><th>Weight</th><td>${between(r, 100, 999)} g</td></tr><tr><th>Height</th><td>${between(r, 5, 60)} cm</td></tr><tr><th>Boxes</th><td>${between(r, 1, 99)}</td></tr></table>`,
    `<ul><li>${sentence(r)}</li><li>${sentence(r)}</li><li>${sentence(r)}</li></ul>`,
    `<p><a href="/manual/${whole(r, 900)}.pdf">Manual</a></p>`,
  ],
  events: (r, at) => [
    `<h1>Programme of the ${pick(r, NOUNS)} hall</h1>`,
    `<ul>${Array.from({ length: between(r, 4, 8) }, () => `<li><b>${heading(r)}</b>: ${day(at + between(r, 5, 200) * DAY_MS)}, doors open at ${between(r, 17, 20)}:30</li>`).join("")}</ul>`,
    `<h2>${heading(r)}</h2>`,
    `<p class="date">${day(at + between(r, 5, 200) * DAY_MS)}</p>`,
    `<p>${paragraph(r)}</p>`,
    `<p>The deadline for registration is ${day(at + between(r, 5, 200) * DAY_MS)}.</p>`,
    `<p><a href="/tickets/${whole(r, 999)}">Tickets</a> cost €${between(r, 5, 60)}.</p>`,
  ],
  table: (r, at) => [
    `<h1>Departures</h1>`,
    `<table><tr><th>Line</th><th>To</th><th>From</th><th>Seats</th></tr>${Array.from({ length: between(r, 6, 12) }, (_, n) => `<tr><td>${n + 1}</td><td>${heading(r)}</td><td>${iso(at + between(r, 3, 90) * DAY_MS).slice(0, 10)}</td><td>${between(r, 1, 300)}</td></tr>`).join("")}</table>`,
    `<p>${sentence(r)} ${sentence(r)}</p>`,
    `<p>See the <a href="/rules/${whole(r, 99)}">rules of the ${pick(r, NOUNS)}</a>.</p>`,
  ],
  jobs: (r, at) => [
    `<h1>Open positions</h1>`,
    ...Array.from(
      { length: between(r, 3, 7) },
      () =>
        `<article><h2>${pick(r, ["Baker", "Pilot", "Nurse", "Welder", "Clerk", "Tuner"])} (${pick(r, ADJECTIVES)} ${pick(r, NOUNS)})</h2><p>Salary: ${between(r, 20, 90)},${between(r, 100, 999)} per year. Apply by ${day(at + between(r, 5, 90) * DAY_MS)}.</p><p>${sentence(r)}</p><p><a href="/apply/${whole(r, 9999)}">Apply</a></p></article>`,
    ),
  ],
  docs: (r) => [
    `<h1>Setting up the ${pick(r, NOUNS)}</h1>`,
    ...Array.from(
      { length: between(r, 3, 6) },
      (_, n) =>
        `<h2>${n + 1}. ${heading(r)}</h2><p>${paragraph(r)}</p><pre><code>set --${pick(r, NOUNS)} ${whole(r, 9999)}</code></pre>`,
    ),
    `<p>Version ${between(r, 1, 9)}.${whole(r, 20)} needs the <a href="/download/${whole(r, 99)}">${pick(r, NOUNS)} package</a>.</p>`,
  ],
  forum: (r, at) => [
    `<h1>${heading(r)}?</h1>`,
    ...Array.from(
      { length: between(r, 4, 9) },
      () =>
        `<div class="post"><p class="meta">user${between(r, 10, 99)} wrote on ${day(at - between(r, 3, 700) * DAY_MS)} at ${between(r, 10, 22)}:${between(r, 10, 59)}</p><p>${paragraph(r)}</p></div>`,
    ),
    `<p><a href="/topic/${whole(r, 999)}">Next topic</a></p>`,
  ],
};

export function makeSitePage(random: Chance, at: number): SitePage {
  const kind = pick(random, Object.keys(KINDS));
  return { kind, title: `${heading(random)} — ${kind}`, blocks: KINDS[kind]!(random, at) };
}

export function siteHtml({ title, blocks }: SitePage, fetch: Fetch): string {
  return `<!DOCTYPE html><html><head><title>${title}</title><meta name="csrf-token" content="${hex(fetch.random, 32)}"><script nonce="${hex(fetch.random, 16)}">window.t=${fetch.at}</script></head><body class="v${whole(fetch.random, 3)}"><nav><a href="/">Home</a> <a href="/all">All</a></nav><main>${blocks.join("\n")}</main></body></html>`;
}

export type Watched = "text" | "markdown" | "links";

type Change = (page: SitePage, random: Chance, at: number) => string[] | null;

/** Replaces one match of the pattern, somewhere in the blocks; null: there is none. */
const replacing =
  (pattern: RegExp, by: (found: RegExpMatchArray, random: Chance, at: number) => string): Change =>
  ({ blocks }, random, at) => {
    const places = blocks.flatMap((block, index) => [...block.matchAll(pattern)].map((found) => ({ index, found })));
    if (places.length === 0) return null;
    const { index, found } = pick(random, places);
    const text = by(found, random, at);
    return blocks.map((block, n) =>
      n === index ? block.slice(0, found.index) + text + block.slice(found.index + found[0].length) : block,
    );
  };

const DATE =
  /\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d/g;

export const SITE_CHANGES: Readonly<Record<string, { what: readonly Watched[]; make: Change }>> = {
  "a price": {
    what: ["text", "markdown"],
    make: replacing(/(?<=[$€£])\d+/g, (found, r) => String(Number(found[0]) + between(r, 1, 9))),
  },
  "the stock": {
    what: ["text", "markdown"],
    make: replacing(/\d+ in stock/g, (found, r) =>
      pick(r, [`${Number.parseInt(found[0], 10) - 1} in stock`, "Sold out"]),
    ),
  },
  "an edited sentence": {
    what: ["text", "markdown"],
    make: replacing(/ (?:opens|closes|repairs|replaces|extends|moves|restores|measures) the /g, (_, r) =>
      pick(r, [" no longer has the ", " may sell the ", " lost the "]),
    ),
  },
  "a number in a table": {
    what: ["text", "markdown"],
    make: replacing(/(?<=<td>)\d{1,3}(?=<\/td>)/g, (found, r) => String(Number(found[0]) + between(r, 1, 50))),
  },
  "a new item at the end": {
    what: ["text", "markdown"],
    make: replacing(/<\/ul>|<\/table>/g, (found, r) =>
      found[0] === "</ul>"
        ? `<li>${sentence(r)}</li></ul>`
        : `<tr><td>99</td><td>${heading(r)}</td><td></td><td>12</td></tr></table>`,
    ),
  },
  "a removed paragraph": {
    what: ["text", "markdown"],
    make: ({ blocks }, random) => {
      const places = blocks.flatMap((block, index) => (block.startsWith("<p>") ? [index] : []));
      if (places.length === 0) return null;
      const gone = pick(random, places);
      return blocks.map((block, index) => (index === gone ? "" : block));
    },
  },
  "a link target": {
    what: ["links", "markdown"],
    make: replacing(/(?<=href="\/)[a-z]+\/\d+/g, (_, r) => `moved/${between(r, 1000, 9999)}`),
  },
  "the date of an event": {
    what: ["text", "markdown"],
    make: (page, random, at) =>
      page.kind === "events" || page.kind === "jobs"
        ? replacing(DATE, (found) => day(Date.parse(found[0]) + between(random, 1, 30) * DAY_MS))(page, random, at)
        : null,
  },
  "a date in a table": {
    what: ["text", "markdown"],
    make: (page, random, at) =>
      page.kind === "table"
        ? replacing(/20\d\d-\d\d-\d\d/g, (found, r) =>
            iso(Date.parse(found[0]) + between(r, 1, 30) * DAY_MS).slice(0, 10),
          )(page, random, at)
        : null,
  },
  "an opening time": {
    what: ["text", "markdown"],
    make: replacing(/(?<=doors open at )\d\d:30/g, (found) => `${Number(found[0].slice(0, 2)) - 1}:00`),
  },
  "a salary": {
    what: ["text", "markdown"],
    make: replacing(/(?<=Salary: )\d\d/g, (found) => String(Number(found[0]) + 3)),
  },
  "a heading": { what: ["text", "markdown"], make: replacing(/(?<=<h[12]>)[^<]+/g, (_, r) => `${heading(r)} revised`) },
};
