/** The pages reachable by links, computed from the files with an independent parser. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { requirePeer } from "../support/peers.ts";

type Attributes = Record<string, string>;
interface HtmlParser2 {
  Parser: new (handler: {
    onopentag(name: string, attributes: Attributes): void;
    ontext(text: string): void;
    onclosetag(name: string): void;
  }) => { write(html: string): void; end(): void };
}

export interface Page {
  title: string;
  /** Paths of this site, without fragments; includes dead links. */
  links: string[];
  /** Those referenced only by frames and refreshes. */
  framed: string[];
}

/** By requested path. A folder without its slash is not a page, but a redirect: see `redirects`. */
export interface LinkGraph {
  start: string;
  pages: Map<string, Page>;
  redirects: Map<string, string>;
}

const ORIGIN = "http://files";

/** The canonical form of a path, for comparison. */
export function pathOf(url: string, base = `${ORIGIN}/`): string | null {
  const parsed = URL.parse(url.trim(), base);
  if (parsed === null || parsed.origin !== new URL(base).origin) return null;
  try {
    return decodeURI(parsed.pathname) + parsed.search;
  } catch {
    return parsed.pathname + parsed.search;
  }
}

const words = (text: string) => text.replace(/\s+/g, " ").trim();

function readPage(html: string, path: string, { Parser }: HtmlParser2): Page {
  let base = ORIGIN + encodeURI(path);
  let [title, isTitle, hasTitle, foreign, nofollow] = ["", false, false, 0, false];
  const [links, framed] = [new Set<string>(), new Set<string>()];
  const add = (to: Set<string>, url: string | undefined) => {
    if (url === undefined || /^\s*(?:#|$)/.test(url)) return;
    const target = pathOf(url, base);
    if (target !== null) to.add(target);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === "svg") foreign += 1;
      else if (name === "title" && foreign === 0 && !hasTitle) isTitle = hasTitle = true;
      else if (name === "base" && attributes["href"] !== undefined) base = new URL(attributes["href"], base).href;
      else if ((name === "a" || name === "area") && !/\bnofollow\b/i.test(attributes["rel"] ?? ""))
        add(links, attributes["href"]);
      else if (name === "frame" || name === "iframe") add(framed, attributes["src"]);
      else if (name === "meta" && attributes["http-equiv"]?.toLowerCase() === "refresh")
        add(framed, /url\s*=\s*['"]?([^'"]*)/i.exec(attributes["content"] ?? "")?.[1]);
      else if (name === "meta" && attributes["name"]?.toLowerCase() === "robots")
        nofollow ||= /nofollow|none/i.test(attributes["content"] ?? "");
    },
    ontext(text) {
      if (isTitle) title += text;
    },
    onclosetag(name) {
      if (name === "svg") foreign -= 1;
      if (name === "title") isTitle = false;
    },
  });
  parser.write(html);
  parser.end();
  const onlyFramed = [...framed].filter((link) => !links.has(link));
  return {
    title: words(title),
    links: nofollow ? [] : [...links, ...onlyFramed],
    framed: nofollow ? [] : onlyFramed,
  };
}

/** The declared charset; default Windows-1252, as in browsers. */
function decode(bytes: Buffer): string {
  const head = bytes.subarray(0, 1024).toString("latin1");
  const named = /charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? /encoding="([\w-]+)"/.exec(head)?.[1];
  return new TextDecoder(named ?? "windows-1252").decode(bytes);
}

type Answer = { kind: "page"; file: string } | { kind: "redirect"; to: string } | { kind: "nothing" };

/** The response of a plain web server. */
function answerOf(root: string, path: string): Answer {
  const [name, query = ""] = path.split(/(?=\?)/);
  let decoded = name!;
  try {
    decoded = decodeURIComponent(name!);
  } catch {
    // A bare %: used verbatim.
  }
  const file = join(root, decoded);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) {
    if (!name!.endsWith("/")) return { kind: "redirect", to: `${name}/${query}` };
    const index = join(file, "index.html");
    return statSync(index, { throwIfNoEntry: false }) === undefined
      ? { kind: "nothing" }
      : { kind: "page", file: index };
  }
  return stats?.isFile() === true && /\.s?html?$/.test(decoded) ? { kind: "page", file } : { kind: "nothing" };
}

export async function readLinkGraph(root: string, start: string): Promise<LinkGraph> {
  const parser = await requirePeer<HtmlParser2>("htmlparser2");
  const graph: LinkGraph = { start: `/${start}`, pages: new Map(), redirects: new Map() };
  const seen = new Set([graph.start]);
  // Iterating a set includes elements added meanwhile, in insertion order.
  for (const path of seen) {
    const answer = answerOf(root, path);
    if (answer.kind === "redirect") {
      graph.redirects.set(path, answer.to);
      seen.add(answer.to);
    } else if (answer.kind === "page") {
      const page = readPage(decode(readFileSync(answer.file)), path, parser);
      graph.pages.set(path, page);
      for (const link of page.links) seen.add(link);
    }
  }
  return graph;
}

/** The pages reachable when broken paths yield nothing. */
export function reachable({ start, pages, redirects }: LinkGraph, isBroken: (path: string) => boolean): Set<string> {
  const seen = new Set([start]);
  const found = new Set<string>();
  for (const path of seen) {
    if (isBroken(path)) continue;
    const to = redirects.get(path);
    if (to !== undefined) seen.add(to);
    const page = pages.get(path);
    if (page === undefined) continue;
    found.add(path);
    for (const link of page.links) seen.add(link);
  }
  return found;
}
