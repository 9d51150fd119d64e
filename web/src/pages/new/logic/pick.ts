/** Turns a click into a field: selector, attribute, type and name. */
import { nameFrom } from "./rules.ts";
import {
  candidatesOf,
  type Chain,
  chooseList,
  chooseOne,
  chooseWithin,
  itemAt,
  likelyAttribute,
  likelyType,
  listCandidates,
  meaningfulClasses,
  type Node,
  ownSelectors,
  pathOf,
  type Tried,
} from "../../../logic/selector.ts";

export interface Picked {
  chain: Chain;
  text: string;
}

interface PickedField {
  name: string;
  selector: string;
  attr: string;
  type: string;
  /** The item selector, if it was just determined. */
  items: string | null;
}

/** Evaluates selectors: in the page, or in the item around the element. */
export type Ask = (selectors: readonly string[], within: string | null) => Promise<Tried[]>;

/**
 * `list`: the page has several records; the item selector is known already, or determined now. A string says why that
 * failed.
 */
export async function pickField(
  picked: Picked,
  list: { items: string } | null,
  ask: Ask,
): Promise<PickedField | string> {
  const { chain, text } = picked;
  const [target] = chain;
  if (target === undefined) return "Nothing was clicked.";
  const attr = likelyAttribute(target, text);
  const about = { name: nameOf(target), attr, type: likelyType(text, attr) };
  if (list === null) {
    const candidates = candidatesOf(chain);
    const selector = chooseOne(candidates, await ask(candidates, null), pathOf(chain));
    return { ...about, selector, items: null };
  }
  const found = list.items === "" ? await findItems(chain, ask) : { items: list.items, at: null };
  if (found === null) return "No list found here: click a value that the other items also have.";
  const at = found.at ?? (await itemLevel(chain, found.items, ask));
  if (at === null)
    return `The clicked value is not in any item (${found.items}). Click inside an item, or change “Items”.`;
  const inside = chain.slice(0, at);
  const items = list.items === "" ? found.items : null;
  if (inside.length === 0) return { ...about, selector: ":scope", items };
  const candidates = candidatesOf(inside, { byId: false });
  const path = pathOf(inside, { byId: false });
  return { ...about, selector: chooseWithin(candidates, await ask(candidates, found.items), path), items };
}

/** A field name for the values of such an element. */
export function nameOf({ attributes, classes, id, tag }: Node): string {
  return nameFrom([
    attributes["itemprop"],
    attributes["data-testid"],
    attributes["name"],
    ...meaningfulClasses(classes),
    id,
    { h1: "title", h2: "title", h3: "title", a: "link", img: "image", time: "date", p: "text" }[tag],
  ]);
}

async function findItems(chain: Chain, ask: Ask): Promise<{ items: string; at: number } | null> {
  const at = itemAt(chain);
  if (at < 0) return null;
  const alike = chain[at]?.alike ?? 0;
  // The only child of each item may have the better name: li > article.product.
  for (let inner = at; inner >= 1 && (inner === at || chain[inner]?.only === true); inner -= 1) {
    const named = ownSelectors(chain[inner] as Chain[number], { byId: false }).slice(0, -1);
    const tried = await ask(named, null);
    const exact = named.find((_, n) => tried[n]?.count === alike);
    if (exact !== undefined) return { items: exact, at: inner };
  }
  const candidates = listCandidates(chain, at);
  const items = chooseList(candidates, await ask(candidates, null), alike);
  return items === null ? null : { items, at };
}

/** Which element of the chain is the item. */
async function itemLevel(chain: Chain, items: string, ask: Ask): Promise<number | null> {
  // Within the item, the path by position finds the element from exactly one level.
  const ways = chain.map((_, n) => (n === 0 ? ":scope" : `:scope > ${steps(chain.slice(0, n))}`));
  const tried = await ask(ways, items);
  const at = tried.findIndex(({ first }) => first);
  return at < 0 ? null : at;
}

function steps(inside: Chain): string {
  return inside
    .toReversed()
    .map(({ tag, nth }) => `${tag}:nth-of-type(${nth})`)
    .join(" > ");
}
