/**
 * A magazine of many subjects, made from a seed: sections with lists of articles, their next pages, navigation and footer
 * on every page, articles that link to others, and a tenth of the pages about repairing bicycle brakes. Most of those are
 * in one section, some in others; articles have tags, whose pages list them. Advertisements promise the same and are about something else.
 */
import { html } from "./misbehaviours.ts";

const SUBJECTS: Readonly<Record<string, string>> = {
  gardening: "soil compost seedling tomato hedge pruning mulch greenhouse watering harvest orchard fertilizer",
  cooking: "recipe oven flour simmer garlic butter sauce roasting dough pepper kitchen skillet",
  travel: "hotel airport itinerary museum beach passport luggage ferry train mountain village guide",
  finance: "mortgage savings interest pension dividend budget tax insurance loan account broker fund",
  photography: "lens aperture shutter exposure tripod portrait contrast sensor flash composition filter zoom",
  music: "guitar melody rhythm chord concert album drummer studio piano lyrics orchestra tempo",
  astronomy: "telescope galaxy planet comet orbit nebula eclipse satellite star crater lunar solar",
  cycling: "bicycle rider saddle helmet frame pedal route tyre gear handlebar commute trail",
};
const BRAKES = "bicycle brake pad caliper cable rotor lever rim disc bleed adjust repair squeal mechanic";
const FILLER =
  "the a of and to in is that it for on with as was at by this from they which one had but what all were when there can more if so some time people work year way day good made long part little found place after again every";

export const GOAL = "repairing bicycle brakes";

interface GoalPage {
  title: string;
  tag: string;
  section: string;
  isRelevant: boolean;
  links: string[];
}

export interface GoalSite {
  routes: Record<string, ReturnType<typeof html>>;
  relevant: ReadonlySet<string>;
  pages: number;
}

/** How many pages were requested until this share of the relevant ones was among them; a page counts once. */
export function pagesUntil({ relevant }: GoalSite, share: number, requested: readonly string[]): number {
  const missing = new Set(relevant);
  const left = relevant.size - Math.ceil(relevant.size * share);
  const at = [...new Set(requested)].findIndex((path) => missing.delete(path) && missing.size === left);
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1;
}

/** Mulberry32: the same pages from the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const PER_LIST = 15;
/** Per subject. */
const TAGS = 3;

/** `pages` in all; a tenth of them is relevant. */
export function goalSite(pages: number, seed = 7): GoalSite {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const words = (vocabulary: string, count: number, share: number) => {
    const [special, plain] = [vocabulary.split(" "), FILLER.split(" ")];
    return Array.from({ length: count }, () => pick(random() < share ? special : plain)).join(" ");
  };
  const sections = Object.keys(SUBJECTS);
  const promos = Math.round(pages * 0.03);
  // Sections and tags list each article once.
  const lists = Math.ceil((2 * pages) / (PER_LIST + 2)) + TAGS * 4;
  const articles = pages - 1 - promos - lists - 3;
  const relevant = Math.round(pages / 10);
  const site = new Map<string, GoalPage>();
  for (let n = 0; n < articles; n += 1) {
    const isRelevant = n < relevant;
    const section = isRelevant && n % 10 < 7 ? "cycling" : pick(sections);
    const [first, second] = [pick((isRelevant ? BRAKES : SUBJECTS[section]!).split(" ")), pick(FILLER.split(" "))];
    // Every fourth relevant page has a title that does not say so.
    const title = isRelevant
      ? n % 4 === 3
        ? `Saturday workshop, part ${n}`
        : `How to ${pick(["repair", "adjust", "bleed"])} a ${first === "brake" ? "" : `${first} `}brake`
      : `${first} ${second} ${pick(SUBJECTS[section]!.split(" "))}`;
    const tag = pick((isRelevant ? BRAKES : SUBJECTS[section]!).split(" ").slice(1, 1 + TAGS));
    site.set(`/${section}/${(n * 7919) % 100_003}.html`, { title, tag, section, isRelevant, links: [] });
  }
  const paths = [...site.keys()];
  const relevantPaths = paths.filter((path) => site.get(path)!.isRelevant);
  for (const page of site.values()) {
    page.links = Array.from({ length: 4 }, () => pick(paths));
    // Articles about a subject link to others about it.
    if (page.isRelevant) page.links.push(pick(relevantPaths), pick(relevantPaths));
  }
  const routes: GoalSite["routes"] = {};
  const navigation = sections.map((name) => `<a href="/${name}/">${name}</a>`).join(" ");
  const footer = `<footer><a href="/about">About</a> <a href="/terms">Terms</a> <a href="/contact">Contact</a></footer>`;
  const ad = () => {
    const n = Math.floor(random() * promos);
    return `<aside class="sidebar"><a href="/offers/${n}">Bicycle brakes: best offers ${n}</a></aside>`;
  };
  const page = (title: string, content: string) =>
    html(
      `<!doctype html><html lang="en"><head><title>${title}</title></head><body><header><nav class="menu">${navigation}</nav></header>
       <main><h1>${title}</h1>${content}</main>${ad()}${footer}</body></html>`,
    );
  const linkTo = (path: string) => `<a href="${path}">${site.get(path)!.title}</a>`;
  for (const [path, { title, tag, section, isRelevant, links }] of site) {
    const text = isRelevant
      ? `<p>${words(BRAKES, 90, 0.3)}</p><p>${words(BRAKES, 90, 0.25)}</p>`
      : `<p>${words(SUBJECTS[section]!, 110, 0.3)}</p><p>${words(SUBJECTS[section]!, 70, 0.2)}</p>`;
    routes[path] = page(
      title,
      `${text}<ul>${links.map((to) => `<li>${linkTo(to)}</li>`).join("")}</ul><p class="tags">Tags: <a href="/tag/${tag}">${tag}</a></p>`,
    );
  }
  // Each section and each tag is a chain of lists, in no order of subject.
  const shuffled = paths.toSorted(() => random() - 0.5);
  let listed = 0;
  const list = (name: string, at: string, own: readonly string[], vocabulary: string) => {
    for (let from = 0, n = 1; from < own.length; from += PER_LIST, n += 1) {
      const path = n === 1 ? at : `${at.replace(/\/$/, "")}/page/${n}`;
      const next = `${at.replace(/\/$/, "")}/page/${n + 1}`;
      const more = from + PER_LIST < own.length ? `<a class="next" href="${next}">Older articles</a>` : "";
      const entries = own
        .slice(from, from + PER_LIST)
        .map((to) => `<li>${linkTo(to)}<p>${words(vocabulary, 12, 0.2)}</p></li>`);
      routes[path] = page(`${name}, page ${n}`, `<ul>${entries.join("")}</ul><div class="pagination">${more}</div>`);
      listed += 1;
    }
  };
  for (const section of sections)
    list(
      section,
      `/${section}/`,
      shuffled.filter((path) => site.get(path)!.section === section),
      SUBJECTS[section]!,
    );
  for (const tag of new Set([...site.values()].map((article) => article.tag)))
    list(
      tag,
      `/tag/${tag}`,
      shuffled.filter((path) => site.get(path)!.tag === tag),
      FILLER,
    );
  for (let n = 0; n < promos; n += 1)
    routes[`/offers/${n}`] = page(
      `Offer ${n}`,
      `<p>${words("discount voucher newsletter subscribe price deal", 90, 0.3)}</p>`,
    );
  for (const name of ["about", "terms", "contact"]) routes[`/${name}`] = page(name, `<p>${words(FILLER, 60, 1)}</p>`);
  routes["/"] = page(
    "The Magazine",
    `<p>${words(FILLER, 50, 1)}</p><ul>${shuffled
      .slice(0, 8)
      .map((to) => `<li>${linkTo(to)}</li>`)
      .join("")}</ul>`,
  );
  return { routes, relevant: new Set(relevantPaths), pages: articles + listed + promos + 4 };
}
