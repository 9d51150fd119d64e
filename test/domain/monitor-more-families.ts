/** More kinds of noise and of real changes that the rules were tuned on; see `monitor-families.ts`. */
import type { ChangeFamily, NoiseFamily } from "./monitor-families.ts";
import { between, hex, replaceOne, shuffled, some } from "./monitor-families.ts";
import { type Chance, pick } from "./monitor-pairs.ts";

const GOODS = "Lamp|Chair|Rug|Clock|Mirror|Shelf|Vase|Basket|Stool|Curtain|Bench|Frame".split("|");
const TOWNS = "Bremen Lyon Turku Porto Ghent Graz Malmo Cork Bergen Delft Siena Brno".split(" ");
const NAMES = "Anna Boris Clara Dmitri Elif Farid Greta Hugo".split(" ");
const JOBS = ["Customer care", "Head of repairs", "Night shift", "Our gardener", "Bookkeeping"];
const OPINIONS = [
  "I read this twice and still disagree.",
  "Thank you, this solved my problem.",
  "Has anybody tried it in winter?",
  "The second paragraph says it all.",
  "My grandmother did it the other way round.",
  "Great photographs!",
  "Could you write more about the harbour?",
  "Same here, since last week.",
];
const HINTS = [
  "Press the question mark to see all shortcuts.",
  "You can drag a picture onto the page.",
  "Old orders are under your name, top right.",
  "Sort any table by a click on its head.",
  "We ship to islands, too.",
];
const QUESTIONS: readonly (readonly [string, readonly string[]])[] = [
  ["How did you find us?", ["A friend", "The radio", "By chance"]],
  ["Which season do you like best?", ["Spring", "Autumn"]],
  ["Do you own a bicycle?", ["Yes", "No", "More than one"]],
  ["Tea or coffee?", ["Tea", "Coffee", "Neither", "Both"]],
];

const priceOf = (name: string) => `€${(name.length * 7 + name.charCodeAt(0)) % 90}.${10 + (name.charCodeAt(1) % 80)}`;
const link = (name: string) => `/goods/${name.toLowerCase()}`;

export const MORE_NOISE: Readonly<Record<string, NoiseFamily>> = {
  "a carousel of goods with prices": (page) => {
    const goods = some(page, GOODS, 6);
    return ({ random: r }) =>
      `<div class="swiper"><div class="swiper-wrapper">${shuffled(r, goods)
        .map(
          (name) =>
            `<div class="swiper-slide"><a href="${link(name)}"><h4>${name}</h4></a><span>${priceOf(name)}</span></div>`,
        )
        .join("")}</div></div>`;
  },
  "trending articles": (page) => {
    const towns = shuffled(page, TOWNS);
    return ({ random: r }) =>
      `<h3>Trending</h3><ol>${some(r, towns, 5)
        .map((town) => `<li><a href="/news/${town.toLowerCase()}">Why ${town} is rebuilding its station</a></li>`)
        .join("")}</ol>`;
  },
  "a tag cloud in one line": (page) => {
    const tags = some(page, TOWNS, 7);
    return ({ random: r }) =>
      `<p class="tags">${shuffled(r, tags)
        .map((tag) => `<a href="/tag/${tag}">${tag}</a>`)
        .join(" ")}</p>`;
  },
  "a banner now and then": (page) => {
    const text = pick(page, ["Download our app", "Take part in our survey", "Join the club today"]);
    return ({ random: r }) => (r() < 0.5 ? "" : `<div class="notice"><p>${text}</p><a href="/now">Not now</a></div>`);
  },
  "a test of three openings": () => {
    const openings = [
      ["Made for mornings", "Everything you need before nine.", "See the collection"],
      ["Less is enough", "Fewer things, better ones.", "Find yours"],
      ["Built to be repaired", "Spare parts for thirty years.", "Learn how"],
    ] as const;
    return ({ random: r }) => {
      const [title, text, action] = pick(r, openings);
      return `<section class="hero"><h2>${title}</h2><p>${text}</p><button>${action}</button></section>`;
    };
  },
  "a member of the team": (page) => {
    const team = some(page, NAMES, 5).map((name) => [name, pick(page, JOBS)] as const);
    return ({ random: r }) => {
      const [name, job] = pick(r, team);
      return `<div><h4>Meet the team</h4><img src="/team/${name}.jpg" alt="${name}"><div>${name}</div><div>${job}</div></div>`;
    };
  },
  "who answers the chat": (page) => {
    const names = some(page, NAMES, 5);
    return ({ random: r }) => `<div class="chat"><span>${pick(r, names)} is here to help you</span></div>`;
  },
  "a hint without a heading": (page) => {
    const hints = shuffled(page, HINTS);
    return ({ random: r }) => `<p>${pick(r, hints)}</p>`;
  },
  "opinions of readers": (page) => {
    const opinions = shuffled(page, OPINIONS);
    return ({ random: r }) =>
      `<div class="comments"><h3>Readers say</h3>${some(r, opinions, 2)
        .map((text) => `<div class="comment"><b>${pick(r, NAMES)}</b><p>${text}</p></div>`)
        .join("")}</div>`;
  },
  "a question with answers": () => {
    return ({ random: r }) => {
      const [question, answers] = pick(r, QUESTIONS);
      return `<form class="poll"><p>${question}</p>${answers.map((text) => `<label><input type="radio">${text}</label><br>`).join("")}<button>Vote</button></form>`;
    };
  },
  "a code for the visitor": () => {
    return ({ random: r }) => `<p>Your personal code: ${hex(r, 6).toUpperCase()}</p>`;
  },
  "what others bought": (page) => {
    const goods = some(page, GOODS, 5);
    return ({ random: r }) =>
      `<p>${pick(r, NAMES)} from ${pick(r, TOWNS)} just bought a ${pick(r, goods).toLowerCase()}</p>`;
  },
  "shops nearby, in any order": (page) => {
    const towns = some(page, TOWNS, 4);
    return ({ random: r }) =>
      `<table class="shops">${shuffled(r, towns)
        .map((town, index) => `<tr><td>${town}</td><td>Main street ${town.length + (index - index)}</td></tr>`)
        .join("")}</table>`;
  },
  "a picture of many": (page) => {
    const towns = some(page, TOWNS, 6);
    return ({ random: r }) => {
      const town = pick(r, towns);
      return `<figure><img src="/photos/${town}.jpg" alt="View of ${town}"><figcaption>${town} in the evening light</figcaption></figure>`;
    };
  },
  "links to the rest of the site": (page) => {
    const goods = shuffled(page, GOODS);
    return ({ random: r }) =>
      `<nav aria-label="Discover">${some(r, goods, between(r, 2, 4))
        .map((name) => `<a href="${link(name)}">${name}</a>`)
        .join(" | ")}</nav>`;
  },
};

/** A replacement of one match, chosen by chance; see `replaceOne`. */
const one =
  (pattern: RegExp, by: (found: RegExpMatchArray, random: Chance) => string): ChangeFamily["make"] =>
  (page, random) =>
    replaceOne(page, random, pattern, by);

const INSIDE = String.raw`(?=[^<>]*<\/(?:p|li|td|dd|h[1-6]|a|span)>)`;

export const MORE_CHANGES: Readonly<Record<string, ChangeFamily>> = {
  "a new entry in a list": {
    what: ["text", "markdown"],
    make: one(/<\/ul>|<\/ol>/g, (found) => `<li>Now with a second entrance</li>${found[0]}`),
  },
  "a heading in other words": {
    what: ["text", "markdown"],
    make: one(/(?<=<h[1-4][^>]*>)[^<>]{4,}(?=<\/h)/g, () => "Under new management"),
  },
  "a sentence more": {
    what: ["text", "markdown"],
    make: one(/(?<=[a-z]\.)(?=<\/(?:p|li|td)>)/g, () => " Closed on Fridays."),
  },
  "another amount": {
    what: ["text", "markdown"],
    make: one(/(?<=[€$£])\d+/g, (found, r) => String(Number(found[0]) + between(r, 1, 20))),
  },
  "sold out": {
    what: ["text", "markdown"],
    make: one(/in stock[^<]*/gi, () => "Sold out"),
  },
  "a section more": {
    what: ["text", "markdown"],
    make: one(/<h[23]\b/g, (found) => `<h2>Recall</h2><p>Please bring the item back to us.</p>${found[0]}`),
  },
  "a section less": {
    what: ["text", "markdown"],
    make: one(/<h([23])\b[^>]*>[^<]+<\/h\1>\s*<p\b[^>]*>[^<]+<\/p>/g, () => ""),
  },
  "two entries in another order": {
    what: ["text", "markdown"],
    make: one(
      /(<(li|tr)\b[^>]*>(?:(?!<(?:li|tr)\b)[^])*?<\/\2>)(\s*)(<\2\b[^>]*>(?:(?!<(?:li|tr)\b)[^])*?<\/\2>)/g,
      (found) => `${found[4]}${found[3]}${found[1]}`,
    ),
  },
  "a negation": {
    what: ["text", "markdown"],
    make: one(new RegExp(String.raw`(?<=\s(?:is|are|can|will|has)\s)(?=[a-z])${INSIDE}`, "g"), () => "not "),
  },
  "another year": {
    what: ["text", "markdown"],
    make: one(new RegExp(String.raw`(?<=\b(?:in|since|of|from)\s)(?:19|20)\d\d\b${INSIDE}`, "g"), (found) =>
      String(Number(found[0]) - 7),
    ),
  },
  "another target of a link": {
    what: ["links", "markdown"],
    make: one(/(?<=<a [^>]*href=")[^"#]+(?=")/g, (_, r) => `/elsewhere/${between(r, 1, 999)}`),
  },
  "a link more": {
    what: ["links", "markdown"],
    make: one(/<\/(?:p|li|td)>/g, (found) => ` <a href="/brand-new">Brand new</a>${found[0]}`),
  },
};
