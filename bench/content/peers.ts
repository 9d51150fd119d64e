/** Other main-content extractors. */
import { parsePage } from "../../src/extract/page.ts";
import { toPlainText } from "../../src/extract/article/plain-text.ts";
import { loadPeer } from "../support/peers.ts";
import type { MarkedPage } from "./corpus.ts";

export interface Peer {
  name: string;
  textOf(page: MarkedPage): string | Promise<string>;
}

interface Linkedom {
  parseHTML(html: string): { document: object };
}
interface ReadabilityModule {
  Readability: new (document: object) => { parse(): { content?: string } | null };
}
interface DefuddleModule {
  Defuddle(document: object, url: string): Promise<{ content: string }>;
}

export async function loadPeers(): Promise<Peer[]> {
  const linkedom = await loadPeer<Linkedom>("linkedom");
  if (linkedom === null) return [];
  const peers: Peer[] = [];
  const documentOf = ({ html }: MarkedPage) => linkedom.parseHTML(html.toString("utf8")).document;
  const readability = await loadPeer<ReadabilityModule>("@mozilla/readability");
  if (readability !== null)
    peers.push({
      name: "readability",
      textOf: (page) => plainText(new readability.Readability(documentOf(page)).parse()?.content ?? ""),
    });
  const defuddle = await loadPeer<DefuddleModule>("defuddle", "node.js");
  if (defuddle !== null)
    peers.push({
      name: "defuddle",
      textOf: async (page) => plainText((await defuddle.Defuddle(documentOf(page), page.url)).content),
    });
  return peers;
}

/** They return HTML; all are converted to text in the same way. */
function plainText(html: string): string {
  const { document } = parsePage({ body: html, contentType: "text/html", url: null }).facts;
  return toPlainText(document.root, () => true);
}
