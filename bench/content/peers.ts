/** Others that find the main content of a page. */
import { loadPeer } from "../support/peers.ts";
import type { MarkedPage } from "./corpus.ts";

export interface Peer {
  name: string;
  textOf(page: MarkedPage): string;
}

interface Linkedom {
  parseHTML(html: string): { document: object };
}
interface ReadabilityModule {
  Readability: new (document: object) => { parse(): { textContent?: string } | null };
}
interface DefuddleModule {
  default: new (document: object, options: { url: string }) => { parse(): { content: string } };
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
      textOf: (page) => new readability.Readability(documentOf(page)).parse()?.textContent ?? "",
    });
  const defuddle = await loadPeer<DefuddleModule>("defuddle");
  if (defuddle !== null)
    peers.push({
      name: "defuddle",
      textOf: (page) => {
        const { content } = new defuddle.default(documentOf(page), { url: page.url }).parse();
        const { document } = linkedom.parseHTML(`<body>${content}</body>`) as {
          document: { body: { textContent: string } };
        };
        return document.body.textContent;
      },
    });
  return peers;
}
