/** Finds the main entity of a page. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { agrees, isSameName } from "./agreement.ts";
import { type EntityGraph, isReference } from "./entity-graph.ts";
import { isObject, type JsonObject, listOf, typesOf } from "./json-ld.ts";

/** Other evidence on the page. */
export interface Evidence {
  /** Whether a URL is the page's own; null: the page's URL is unknown. */
  isOwnAddress: ((address: string) => boolean) | null;
  /** Its headline, `og:title` and `<title>`. */
  names: readonly string[];
  ogType: string | null;
}

export type Kind = "article" | "thing" | "work" | "review" | "page" | "media" | "other";

const ARTICLE = /(?:Article|BlogPosting|ForumPosting|SocialMediaPosting|Report|Recipe|HowTo|^Question)$/;
const THING =
  /^(?:Product\w*|IndividualProduct|SomeProducts|Book|\w*Application|VideoGame|Movie|TVSeries|TVEpisode|\w*Event|Course|JobPosting|Vehicle|Car|Motorcycle|Hotel|Restaurant|Dataset|MusicAlbum|MusicRecording|Accommodation|Apartment|House|RealEstateListing|Offer|AggregateOffer)$/;
const MEDIA = /^(?:Video|Audio)Object$|^Podcast\w*$/;
/** Types that describe the site, or parts of other entities. */
const NEVER =
  /^(?:\w*Organization|Corporation|Brand|WebSite|BreadcrumbList|ItemList|OfferCatalog|ListItem|ImageObject|SearchAction|SiteNavigationElement|WP\w+|Comment|Answer|Rating|AggregateRating|InteractionCounter)$/;

const WEIGHTS: Readonly<Record<Kind, number>> = {
  ...{ article: 41, thing: 40, work: 30, review: 20, other: 12, page: 10, media: 5 },
};

/** The reviewed item weighs less than the review itself. */
const REVIEWED = 19;

export function kindOf(entity: JsonObject): Kind {
  const types = typesOf(entity);
  const has = (pattern: RegExp) => types.some((type) => pattern.test(type));
  if (has(ARTICLE)) return "article";
  if (has(THING)) return "thing";
  if (has(/Review$/)) return "review";
  if (has(/^CreativeWork$/)) return "work";
  if (has(MEDIA)) return "media";
  return has(/Page$/) ? "page" : "other";
}

export function isProduct(entity: JsonObject): boolean {
  return typesOf(entity).some((type) => /^(?:Product\w*|IndividualProduct|SomeProducts|Vehicle|Car|Book)$/.test(type));
}

interface Candidate {
  entity: JsonObject;
  kind: Kind;
  /** `mainEntity` of a page entity. */
  isNamed: boolean;
  /** `itemReviewed` of a review. */
  isReviewed: boolean;
}

/** Never an organisation, a breadcrumb list or the site itself. */
export function mainEntity(graph: EntityGraph, evidence: Evidence): JsonObject | null {
  const all = candidatesOf(graph).map((candidate) => ({ ...candidate, points: pointsOf(candidate, graph, evidence) }));
  const listed = new Set<Candidate>();
  for (const kind of ["article", "thing", "work", "review"] as const) {
    const unproven = all.filter((candidate) => candidate.kind === kind && candidate.points <= 0);
    const elsewhere = unproven.filter(({ points }) => points < 0).length;
    // Several of a kind without a tie to the page are list items; a single such review is a customer's.
    if (unproven.length > 2 || elsewhere > 1 || kind === "review")
      for (const candidate of unproven) listed.add(candidate);
  }
  let best: JsonObject | null = null;
  let bestWeight = 0;
  for (const candidate of all) {
    if (listed.has(candidate)) continue;
    const weight = (candidate.isReviewed ? REVIEWED : WEIGHTS[candidate.kind]) + candidate.points;
    if (weight > bestWeight) [best, bestWeight] = [candidate.entity, weight];
  }
  return best;
}

/** The WebPage entity, which supplements the main one. */
export function pageEntity(graph: EntityGraph): JsonObject | null {
  return graph.entities.find((entity) => kindOf(entity) === "page") ?? null;
}

function candidatesOf(graph: EntityGraph): Candidate[] {
  const found = new Map<JsonObject, Candidate>();
  const add = (value: JsonValue | undefined, by: "page" | "review" | null, depth: number): void => {
    const isNamed = by === "page";
    const entity = graph.follow(value);
    if (!isObject(entity) || isReference(entity) || depth > 3) return;
    const known = found.get(entity);
    if (known !== undefined) {
      known.isNamed ||= isNamed;
      known.isReviewed &&= by === "review";
      return;
    }
    const types = typesOf(entity);
    if (types.length === 0 ? !isInformative(entity) : types.every((type) => NEVER.test(type))) return;
    const kind = kindOf(entity);
    if (kind !== "other" || isNamed || types.length === 0)
      found.set(entity, { entity, kind, isNamed, isReviewed: by === "review" });
    // The questions of a FAQ are parts of it.
    if (kind === "page" && !types.includes("FAQPage")) add(listOf(entity["mainEntity"])[0], "page", depth + 1);
    if (kind === "review") add(listOf(entity["itemReviewed"])[0], "review", depth + 1);
  };
  for (const entity of graph.entities) add(entity, null, 0);
  return [...found.values()];
}

/** An untyped entity counts only with properties that typically describe a page's subject. */
function isInformative(entity: JsonObject): boolean {
  return ["headline", "datePublished", "author", "offers", "price"].some((key) => Object.hasOwn(entity, key));
}

function pointsOf({ entity, kind, isNamed }: Candidate, graph: EntityGraph, evidence: Evidence): number {
  if (kind === "page") return typesOf(entity).includes("FAQPage") ? -1 : 0;
  let points = isNamed ? 8 : 0;
  const addresses = addressesOf(entity, graph);
  if (evidence.isOwnAddress !== null && addresses.length > 0)
    points += addresses.some(evidence.isOwnAddress) ? 8 : kind === "media" ? 0 : -5;
  // Teasers of other pages often share a word with this page's title.
  const fits = points < 0 ? isSameName : agrees;
  const names = [entity["headline"], entity["name"]].flatMap((name) => textsOf(name));
  if (names.some((name) => evidence.names.some((other) => fits(name, other)))) points += 6;
  const ogType = evidence.ogType?.toLowerCase() ?? "";
  if (kind === "article" && ogType.startsWith("article")) points += 4;
  if (kind === "thing" && /product|book|movie|music/.test(ogType)) points += 4;
  if (kind === "media" && /^(?:video|music)/.test(ogType)) points += 30;
  return points;
}

function addressesOf(entity: JsonObject, graph: EntityGraph): string[] {
  const values = [entity["url"], entity["mainEntityOfPage"], entity["@id"]].flatMap(listOf);
  return values.flatMap((value) => {
    const address = isObject(value) ? (value["@id"] ?? value["url"]) : value;
    return typeof address === "string" ? (graph.resolve(address) ?? []) : [];
  });
}

function textsOf(value: JsonValue | undefined): string[] {
  return listOf(value).flatMap((item) => {
    const text = isObject(item) ? item["@value"] : item;
    return typeof text === "string" ? [text] : [];
  });
}
