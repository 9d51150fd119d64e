/** A magazine of static pages, identical in every run: page 0 is the front page, and every page is an article. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a crawler must find on a page. */
export interface PageFacts {
  path: string;
  title: string;
  author: string;
  published: string;
  price: string;
  /** In the last paragraph: a truncated article lacks it. */
  lastSentence: string;
}

/** Field selectors: the text of an element, or an attribute after @. */
export const FIELDS = { author: ".byline .author", published: "time.published@datetime", price: ".offer .price" };

const words = (text: string) => text.split(" ");
const SECTIONS = words("gardens harbours kitchens railways museums markets islands workshops libraries mountains");
const FIRST = words("Ada Bruno Clara Dario Elsa Felix Greta Hugo Ines Jonas Karin Leo");
const LAST = words("Abel Brandt Castell Dorn Engel Falk Gruber Hahn Iversen Jansen Keller Lund");
const ADJECTIVES = words(
  "quiet bright narrow patient wooden distant gentle copper early hollow amber steady silver broad",
);
const NOUNS = words(
  "bridge lantern orchard signal cellar window station meadow engine letter ladder harvest anchor kettle",
);
const TEXT = words(
  "the a of and in to was with for that from which when after before over under along river town people work morning " +
    "evening winter summer stone water light glass iron bread paper road house small large old new first last slowly " +
    "again always never often between without through carried opened closed found built kept brought walked waited " +
    "remembered described measured repaired planted painted listened counted arrived returned began ended continued",
);

/** Seeded pseudo-random numbers (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 97) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
const two = (value: number) => String(value).padStart(2, "0");

export function factsOf(page: number): PageFacts {
  const next = numbers(page * 2);
  const pick = (list: readonly string[]) => list[next(list.length)]!;
  const subject = `${pick(ADJECTIVES)} ${pick(NOUNS)} and the ${pick(ADJECTIVES)} ${pick(NOUNS)}`;
  const slug = `${subject.replaceAll(" ", "-")}-${page}`;
  const [year, month, day] = [2019 + next(7), two(1 + next(12)), two(1 + next(28))];
  return {
    path: page === 0 ? "/" : `/${SECTIONS[page % SECTIONS.length]}/${slug}`,
    title: `${capital(subject)}, part ${page}`,
    author: `${pick(FIRST)} ${pick(LAST)}`,
    published: `${year}-${month}-${day}T${two(next(24))}:${two(next(60))}:00Z`,
    price: `€${1 + next(200)}.${two(next(100))}`,
    lastSentence: `This was the end of story number ${page}.`,
  };
}

const CHILDREN = 8;

/** Every page is linked from its parent in a tree, so that all are reachable; other links are random. */
function linksOf(page: number, pages: number, next: (below: number) => number): number[] {
  const links = new Set<number>();
  for (let child = page * CHILDREN + 1; child <= page * CHILDREN + CHILDREN && child < pages; child += 1)
    links.add(child);
  const wanted = 46 + next(36);
  for (let tries = 0; links.size < Math.min(wanted, pages) && tries < 500; tries += 1) links.add(next(pages));
  return [...links];
}

function sentence(next: (below: number) => number): string {
  const list = Array.from({ length: 8 + next(14) }, () => TEXT[next(TEXT.length)]!);
  if (list.length > 14) list[6] += ",";
  return `${capital(list.join(" "))}.`;
}

const STYLE = `<style>
${Array.from({ length: 40 }, (_, n) => `.c${n} { margin: ${n}px auto; color: #${two(n)}4466; display: block; }`).join("\n")}
</style>`;
const SCRIPT = `<script>
window.dataLayer = window.dataLayer || [];
${Array.from({ length: 12 }, (_, n) => `dataLayer.push({ event: "view-${n}", at: "slot-${n}", visible: ${n % 2 === 0} });`).join("\n")}
</script>`;

export function htmlOf(page: number, pages: number): string {
  const { path, title, author, published, price, lastSentence } = factsOf(page);
  const next = numbers(page * 2 + 1);
  const front = SECTIONS.map((_, index) => index + 1).filter((number) => number < pages);
  const menu = front.map(
    (number) => `<li class="menu-item"><a href="${factsOf(number).path}">${SECTIONS[number % 10]}</a></li>`,
  );
  const paragraphs = Array.from({ length: 13 }, (_, index) => {
    const text = Array.from({ length: 9 + next(4) }, () => sentence(next)).join(" ");
    return `${index % 5 === 4 ? `<h2>${sentence(next)}</h2>\n` : ""}<p class="c${index}">${text}</p>`;
  });
  const cards = linksOf(page, pages, next).map((number) => {
    const other = factsOf(number);
    return `<li class="card c${number % 40}"><a class="card-link" href="${other.path}" title="${other.title}">${other.title}</a></li>`;
  });
  const about = { "@context": "https://schema.org", "@type": "Article", headline: title, datePublished: published };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${sentence(next)}">
<meta property="og:title" content="${title}">
<meta property="og:type" content="article">
<link rel="stylesheet" href="/style.css">
<script type="application/ld+json">${JSON.stringify({ ...about, author: { "@type": "Person", name: author } })}</script>
${STYLE}
${SCRIPT}
</head>
<body>
<header><nav class="menu"><ul><li><a href="/">Home</a></li>${menu.join("")}</ul></nav></header>
<main>
<article>
<h1>${title}</h1>
<p class="byline">By <span class="author">${author}</span>, <time class="published" datetime="${published}">${published.slice(0, 10)}</time></p>
${paragraphs.join("\n")}
<p>${sentence(next)} ${lastSentence}</p>
</article>
<aside class="offer"><span class="label">In print</span> <span class="price">${price}</span></aside>
<section class="related"><h2>Read on</h2><ul>
${cards.join("\n")}
</ul></section>
</main>
<footer><a href="#top">Up</a> <a href="${path}#comments">Comments</a> <a href="mailto:desk@magazine.invalid">Write to us</a>
<a href="https://share.invalid/?u=${encodeURIComponent(path)}" rel="nofollow">Share</a></footer>
</body>
</html>
`;
}

/** Writes the site as static files. */
export function writeSite(folder: string, pages: number): { bytes: number } {
  let bytes = 0;
  for (let page = 0; page < pages; page += 1) {
    const { path } = factsOf(page);
    const file = join(folder, path === "/" ? "index.html" : path);
    const html = htmlOf(page, pages);
    bytes += html.length;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, html);
  }
  writeFileSync(join(folder, "style.css"), "body { font-family: serif; }\n");
  writeFileSync(join(folder, "robots.txt"), "User-agent: *\nDisallow: /private/\n");
  return { bytes };
}
