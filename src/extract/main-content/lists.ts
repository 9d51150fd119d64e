/** Adds link lists within the content, which the model mistakes for navigation. */
import type { Block, BlockPage } from "./blocks.ts";
import type { Box } from "./boxes.ts";
import { isHeading, MARK_NAMES } from "./marks.ts";
import { OTHERS } from "./survey.ts";

const LISTS = new Set(["ul", "ol"]);
/** The bits of marks of parts that are no content. */
export const ELSEWHERE = bitsOf("nav", "sidebar", "related", "advert", "social", "signup", "comment", "card");
/** A list may be named like one: `wp-block-list`. */
const CARD = bitsOf("card");

function bitsOf(...names: string[]): number {
  return names.map((name) => 1 << MARK_NAMES.indexOf(name)).reduce((bits, bit) => bits | bit);
}

const MAX_ANNOUNCEMENT = 12;
/** Headings of what an article is based on. */
const SOURCES =
  /^(?:(?:list of |selected )?(?:sources|references|citations|footnotes|notes|bibliography|works cited|literature)(?: (?:and|&) (?:sources|references|notes|further reading|citations|footnotes))?|quellen(?:angaben|verzeichnis)?|einzelnachweise|literatur(?:verzeichnis)?|fußnoten|anmerkungen|références|bibliographie|notes et références|fuentes|referencias|bibliografía|notas|fonti|riferimenti|bibliografia|note|fontes|referências|źródła|przypisy|источники|примечания|литература|bronnen|referenties|voetnoten|källor|referenser|kilder|referanser|kaynaklar|kaynakça|参考文献|参考资料|參考資料|脚注|出典|출처|참고 ?문헌)\s*[:：]?$/iu;

/** A list that belongs to the chosen text before it is chosen as well. */
export function withLists({ blocks, boxes }: BlockPage, chosen: readonly boolean[]): boolean[] {
  const all = [...chosen];
  for (const box of boxes) {
    if (!LISTS.has(box.element.tag.name) || box.blocks === 0 || box.hidden) continue;
    if ((box.marks & ELSEWHERE & ~CARD) !== 0) continue;
    const at = box.firstBlock - 1;
    const before = blocks[at];
    if (before === undefined || !isBeside(box, before)) continue;
    const end = box.firstBlock + box.blocks;
    if (isHeading(before.box.element) && SOURCES.test(before.text)) {
      // The heading looks like furniture, too.
      const above = blocks[at - 1];
      if (above !== undefined && all[at - 1] && (isBeside(before.box, above) || isBeside(box.parent, above)))
        all.fill(true, at, end);
    } else if (all[at] && !announcesOthers(before) && (isIntroduction(before) || continues(box, end, blocks, chosen)))
      all.fill(true, box.firstBlock, end);
  }
  return all;
}

function announcesOthers({ text, words }: Block): boolean {
  return words < MAX_ANNOUNCEMENT && OTHERS.test(text);
}

/** `These are the tools that we use:` */
function isIntroduction({ box, text }: Block): boolean {
  return !isHeading(box.element) && /[:：]$/.test(text);
}

/** Unnamed, and the content continues behind it: in the same box, or in the next section. */
function continues(list: Box, end: number, blocks: readonly Block[], chosen: readonly boolean[]): boolean {
  if ((list.marks & CARD) !== 0) return false;
  const next = blocks[end];
  if (next === undefined || !chosen[end]) return false;
  if (isBeside(list, next)) return true;
  const section = list.parent;
  return (
    section !== null &&
    section.element.tag.name === "section" &&
    (isBeside(section, next) || next.box.parent?.parent === section.parent)
  );
}

/** A paragraph or heading in the same box. */
function isBeside(box: Box | null, block: Block): boolean {
  return box !== null && (block.box.parent === box.parent || block.box === box.parent);
}
