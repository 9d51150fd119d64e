/** Finds the main content of a page, without navigation, advertisements and the like. */
import type { Document, Element } from "../dom/nodes.ts";
import { isHidden } from "../article/visible.ts";
import { type Block, type BlockPage, readBlocks } from "./blocks.ts";
import type { Box } from "./boxes.ts";
import { type Candidate, findCandidate } from "./candidate.ts";
import { alike, chooseBlocks } from "./choose.ts";
import type { PageContext } from "./columns.ts";
import { withHeadings } from "./headings.ts";
import { withLists } from "./lists.ts";
import { MARK_NAMES } from "./marks.ts";
import { likelihoods } from "./model.ts";
import { withParagraphs } from "./paragraphs.ts";
import { type Survey, survey } from "./survey.ts";

export interface MainContent {
  root: Element;
  /** False: not part of the content. */
  keep(element: Element): boolean;
  /** The same for plain text, which excludes the page's headline. */
  keepInText(element: Element): boolean;
}

/** The model was trained on full pages; shorter ones use the rules alone. */
const MIN_WORDS = 100;
/** Beyond this the model would exceed the page's time limit; the rules take a twentieth of its time. */
const MAX_BLOCKS = 20_000;

export function findMainContent(page: JudgedPage, context: PageContext): MainContent {
  const canUseModel = page.body.words >= MIN_WORDS && page.blocks.length <= MAX_BLOCKS;
  const found = canUseModel ? byModel(page, context) : null;
  return found ?? { ...page.candidate, keepInText: page.candidate.keep };
}

/** A page in blocks, with the rule-based candidate. */
export interface JudgedPage extends BlockPage {
  candidate: Candidate;
}

export function readPageBlocks(document: Document): JudgedPage | null {
  const body = bodyOf(document);
  if (body === null) return null;
  const candidate = findCandidate(body);
  return { ...readBlocks(body, { ...candidate, isHidden }), candidate };
}

/** Of a document, where nothing surrounds the content. */
export function wholeBody(document: Document): MainContent | null {
  const body = bodyOf(document);
  const keep = (element: Element) => !isHidden(element);
  return body === null ? null : { root: body, keep, keepInText: keep };
}

function byModel(page: BlockPage, context: PageContext): MainContent | null {
  const surveyed = survey(page, context.title);
  const chosen = contentBlocks(surveyed, likelihoods(surveyed, context));
  const first = chosen.indexOf(true);
  if (first < 0) return null;
  const { titleAt } = surveyed;
  const rest = chosen.with(Math.max(0, titleAt), false);
  // The headline above the content is not in the text, whatever the model says, unless there is nothing else.
  if (titleAt < 0 || titleAt > first || !rest.includes(true)) {
    const all = new Selection(page, chosen);
    return { ...all.content(), keepInText: all.keep };
  }
  const inText = new Selection(page, rest);
  return { ...new Selection(page, chosen.with(titleAt, true)).content(), keepInText: inText.keep };
}

/** Selects the content blocks by their likelihoods. */
export function contentBlocks(page: Survey, values: readonly number[]): boolean[] {
  const included = alike(page, values).map((value, index) =>
    isExcluded(page.blocks[index]!.box, page.body) ? 0 : value,
  );
  return withHeadings(page, withLists(page, withParagraphs(page, chooseBlocks(page.blocks, included))));
}

const ADVERT = 1 << MARK_NAMES.indexOf("advert");

/** In a footer, or marked as an advertisement that is a small part of the page. */
function isExcluded(box: Box, body: Box): boolean {
  if (box.inFooter) return true;
  const { parent } = box;
  const marked = (box.marks & ADVERT) !== 0 ? box : parent !== null && (parent.marks & ADVERT) !== 0 ? parent : null;
  return marked !== null && marked.words * 5 < body.words;
}

/** The chosen blocks as a part of the tree. */
class Selection {
  /** By `Element.at`: 1 or 0, whether the box of this element is chosen; −1: it has no box. */
  readonly #chosen: Int8Array;
  readonly #root: Box;

  constructor({ blocks, boxes, body }: BlockPage, chosen: readonly boolean[]) {
    /** Chosen blocks of a box, by `Box.at`. */
    const counts = new Int32Array(boxes.length);
    for (let index = 0; index < blocks.length; index += 1) if (chosen[index]) counts[blocks[index]!.box.at]! += 1;
    // In document order: a parent comes before its boxes.
    for (let at = boxes.length - 1; at > 0; at -= 1) counts[boxes[at]!.parent?.at ?? 0]! += counts[at]!;
    const total = counts[0]!;
    // The last box in document order with all chosen blocks is the innermost.
    this.#root = (total === 0 ? undefined : boxes.findLast((box) => counts[box.at] === total)) ?? body;
    this.#chosen = new Int8Array(body.element.document.elements).fill(-1);
    for (const box of boxes) {
      const isChosen = counts[box.at]! > 0 || (box.blocks === 0 && isBesideChosen(box, blocks, chosen));
      this.#chosen[box.element.at] = isChosen ? 1 : 0;
    }
  }

  content(): Pick<MainContent, "root" | "keep"> {
    return { root: this.#root.element, keep: this.keep };
  }

  readonly keep = (element: Element): boolean => {
    const chosen = this.#chosen[element.at]!;
    return chosen < 0 ? !isHidden(element) : chosen === 1;
  };
}

/** A box without text, such as an image, follows its neighbouring blocks. */
function isBesideChosen(box: Box, blocks: readonly Block[], chosen: readonly boolean[]): boolean {
  if (box.hidden) return false;
  const { firstBlock } = box;
  return (chosen[firstBlock - 1] ?? false) || (firstBlock < blocks.length && chosen[firstBlock]!);
}

function bodyOf(document: Document): Element | null {
  const html = document.root.first;
  for (let node = html?.kind === 1 ? html.first : null; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.name === "body") return node;
  }
  return null;
}
