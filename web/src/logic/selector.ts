/**
 * Builds a selector for a clicked element that survives small changes of the page: by id, by class, by attributes; by
 * position only as a last resort. This only generates candidates, best first; the frame that shows the page evaluates
 * them.
 */

/** One element, as the frame describes it. */
export interface Node {
  tag: string;
  id: string;
  classes: readonly string[];
  attributes: Readonly<Record<string, string>>;
  /** Its index among siblings with the same tag, from 1, and their number. */
  nth: number;
  ofType: number;
  /** It is its parent's only content. */
  only: boolean;
  /** Siblings with the same classes: more than one form a list. */
  alike: number;
}

/** The clicked element and its ancestors, innermost first. */
export type Chain = readonly Node[];

/** What a candidate matched in the frame. */
export interface Tried {
  count: number;
  /** Whether its first match is the clicked element. */
  first: boolean;
}

const GENERATED = /\d{3,}|^[a-f\d]{6,}$|^(?:css|sc|jsx|jss|emotion|svelte|ng|ember|react|radix|mui|chakra)-|^_|^:|:$/i;
const STATES =
  /^(?:is|has|js)-|^(?:active|selected|open|closed|visible|hidden|hover|focus|current|disabled|enabled|loaded|loading|first|last|odd|even|show|collapsed|expanded)$/i;
const UTILITIES =
  /[:/[\]@!]|^-?(?:m|p|w|h|mx|my|mt|mb|ml|mr|px|py|pt|pb|pl|pr|min|max|gap|space|text|font|leading|tracking|bg|border|rounded|shadow|flex|grid|col|row|items|justify|self|order|z|top|left|right|bottom|inset|opacity|overflow|cursor|transition|duration|ease|float|align|d)-|^(?:flex|grid|block|inline|inline-block|hidden|relative|absolute|fixed|sticky|static|container|row|clearfix|pull-left|pull-right|truncate|uppercase|lowercase|capitalize|italic|underline)$/;
const IDENTIFIER = /^-?[A-Za-z_][\w-]*$/;

/** Suffixes that build tools generate: with digits, or mixed case. */
const HASHED = /(?:__|--)(?=[A-Za-z]*\d|[a-z]+[A-Z]|[A-Z]+[a-z])[A-Za-z\d]{5,}$/;

const isMeaningful = (word: string) =>
  IDENTIFIER.test(word) && word.length <= 40 && !GENERATED.test(word) && !HASHED.test(word);

export function meaningfulClasses(classes: readonly string[]): string[] {
  return classes.filter((name) => isMeaningful(name) && !STATES.test(name) && !UTILITIES.test(name));
}

/** Attributes that identify an element, best first. */
const TELLING = [
  "data-testid",
  "data-test",
  "data-qa",
  "data-cy",
  "itemprop",
  "property",
  "name",
  "rel",
  "role",
  "type",
];

function attributeSelectors({ tag, attributes }: Node): string[] {
  const candidates = Object.entries(attributes).filter(
    ([name, value]) =>
      (TELLING.includes(name) || /^data-[a-z-]+$/.test(name)) &&
      /^[\w .:-]{1,40}$/.test(value) &&
      !/\d{3,}/.test(value),
  );
  const rank = ([name]: [string, string]) => (TELLING.indexOf(name) + TELLING.length + 1) % (TELLING.length + 1);
  const ranked = candidates.toSorted((a, b) => rank(a) - rank(b));
  return ranked.slice(0, 3).map(([name, value]) => `${tag}[${name}="${value}"]`);
}

/** Selectors for an element by itself, best first; its bare tag comes last. */
export function ownSelectors(node: Node, { byId = true } = {}): string[] {
  const { tag, id } = node;
  const classes = meaningfulClasses(node.classes);
  return [
    ...(byId && isMeaningful(id) ? [`#${id}`] : []),
    ...attributeSelectors(node),
    ...classes.map((name) => `${tag}.${name}`),
    ...(classes.length > 1 ? [`${tag}.${classes.slice(0, 3).join(".")}`] : []),
    tag,
  ];
}

const MOST = 80;

/** All candidates for the innermost element of a chain, best first. */
export function candidatesOf(chain: Chain, options: { byId?: boolean } = {}): string[] {
  const [target, ...around] = chain;
  if (target === undefined) return [];
  const candidates = ownSelectors(target, options);
  const named = candidates.slice(0, -1);
  const found = [...named];
  const outer = around.filter(({ tag }) => tag !== "html" && tag !== "body");
  for (const ancestor of outer)
    for (const outside of ownSelectors(ancestor, options).slice(0, -1))
      for (const inside of named.length > 0 ? [...named.slice(0, 2), target.tag] : [target.tag])
        found.push(`${outside} ${inside}`);
  found.push(target.tag, ...outer.slice(0, 2).map(({ tag }) => `${tag} > ${target.tag}`));
  return [...new Set(found)].slice(0, MOST);
}

/** By position only, from the nearest named ancestor: the last resort. */
export function pathOf(chain: Chain, options: { byId?: boolean } = {}): string {
  const steps: string[] = [];
  for (const node of chain) {
    const [name] = ownSelectors(node, options).slice(0, -1);
    if (steps.length > 0 && name !== undefined) return `${name} > ${steps.join(" > ")}`;
    if (node.tag === "html") break;
    steps.unshift(node.ofType > 1 ? `${node.tag}:nth-of-type(${node.nth})` : node.tag);
  }
  return steps.join(" > ");
}

/** The best candidate that matches only this element; else its position on the page. */
export function chooseOne(candidates: readonly string[], tried: readonly Tried[], path: string): string {
  const alone = candidates.findIndex((_, n) => tried[n]?.count === 1 && tried[n]?.first === true);
  return candidates[alone] ?? path;
}

/** Within an item the first match is read: it must be the element, and a unique match is better. */
export function chooseWithin(candidates: readonly string[], tried: readonly Tried[], path: string): string {
  const alone = candidates.findIndex((_, n) => tried[n]?.count === 1 && tried[n]?.first === true);
  const first = candidates.findIndex((_, n) => tried[n]?.first === true);
  return candidates[alone] ?? candidates[first] ?? path;
}

/** The element of a chain that is an item: in the longest list, the innermost of equal ones. */
export function itemAt(chain: Chain): number {
  let best = -1;
  chain.forEach(({ tag, alike }, n) => {
    const most = best < 0 ? 1 : (chain[best]?.alike ?? 1);
    if (alike > most && tag !== "body" && tag !== "html") best = n;
  });
  return best;
}

/** Candidates for all elements like the one at `at`. */
export function listCandidates(chain: Chain, at: number): string[] {
  const item = chain[at];
  if (item === undefined) return [];
  const candidates = ownSelectors(item, { byId: false });
  const parents = chain.slice(at + 1).filter(({ tag }) => tag !== "html" && tag !== "body");
  const found = candidates.slice(0, -1);
  const [parent] = parents;
  if (parent !== undefined) for (const outside of ownSelectors(parent)) found.push(`${outside} > ${item.tag}`);
  for (const around of parents.slice(1, 4))
    for (const outside of ownSelectors(around).slice(0, -1)) found.push(`${outside} ${item.tag}`);
  return [...new Set([...found, item.tag])].slice(0, MOST);
}

/** The first that matches exactly the similar elements; else the one with the fewest extra matches. */
export function chooseList(candidates: readonly string[], tried: readonly Tried[], alike: number): string | null {
  const counted = candidates.map((selector, n) => ({ selector, count: tried[n]?.count ?? 0 }));
  const enough = counted.filter(({ count }) => count >= alike);
  const exact = enough.find(({ count }) => count === alike);
  return (exact ?? enough.toSorted((a, b) => a.count - b.count)[0])?.selector ?? null;
}

/** The attribute that users mean when they click it; empty: its text. */
export function likelyAttribute({ tag }: Node, text: string): string {
  if (tag === "img" || tag === "source" || tag === "video") return "src";
  if (tag === "meta") return "content";
  if (tag === "input") return "value";
  return tag === "a" && text.trim() === "" ? "href" : "";
}

/** The type that a text looks like. */
export function likelyType(text: string, attr: string): string {
  if (attr === "href" || attr === "src") return "url";
  if (
    /^\s*[^\w\s]{0,3}\s*[A-Z]{0,3}\s*-?\d[\d.,' ]*\s*(?:%|[^\w\s]{1,3}|[A-Z]{3})?\s*$/.test(text) &&
    text.trim().length <= 20
  )
    return "number";
  return "";
}
