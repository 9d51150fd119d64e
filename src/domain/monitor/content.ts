/** The content of a page as a monitor keeps it: its lines, and which part of the page each of them is in. */

/** The elements that hold lines, as a tree. */
export interface RegionTree {
  /** Parent, or -1; name, such as `aside.related`; label, such as its heading. Parents come first. */
  nodes: (readonly [parent: number, name: string, label: string])[];
  /** Per line that is not blank: the node that it is in, or -1. */
  lines: number[];
}

export interface PageContent {
  text: string;
  /** Null: the page has no markup, or was read by an earlier version. */
  tree: RegionTree | null;
}

/** No page's text contains it. */
const SEPARATOR = "\n\0";
/** Larger trees are not kept: the page is compared without them. */
export const MAX_NODES = 20_000;
const MAX_LINES = 20_000;

export function encodeContent({ text, tree }: PageContent): string {
  const plain = text.replaceAll("\0", "");
  return tree === null || tree.nodes.length > MAX_NODES || tree.lines.length > MAX_LINES
    ? plain
    : `${plain}${SEPARATOR}${JSON.stringify(tree)}`;
}

export function decodeContent(bytes: Buffer): PageContent {
  const content = bytes.toString("utf8");
  const at = content.indexOf(SEPARATOR);
  if (at < 0) return { text: content, tree: null };
  return { text: content.slice(0, at), tree: JSON.parse(content.slice(at + SEPARATOR.length)) as RegionTree };
}
