/**
 * Resolves the addresses of links. Most links of a site are on every page: what they resolve to is cached by the folder
 * of the page, for all pages of a thread.
 */
import { RecentByGroup } from "../../domain/lane/recent.ts";

/** A parsed address. */
interface Resolved {
  href: string;
  /** `https:` */
  protocol: string;
}

const MAX_CACHED = { entries: 50_000, characters: 8_000_000 };
/** Longer addresses are rarely repeated. */
const MAX_LENGTH = 1000;

const cache = new RecentByGroup<Resolved | null>(MAX_CACHED);

/** Resolves addresses against the base URL of a page. */
export class AddressResolver {
  readonly #base: string | undefined;
  /** The part of the base that all cached addresses depend on; null: nothing can be cached. */
  readonly #folder: string | null;

  constructor(base: string | null) {
    this.#base = base ?? undefined;
    this.#folder = folderOf(base);
  }

  /** `address` has no white space at its ends. Null: not a URL. */
  resolve(address: string): Resolved | null {
    const folder = this.#folder;
    if (folder === null || !dependsOnFolderOnly(address)) return this.#parse(address);
    const cached = cache.get(folder, address);
    if (cached !== undefined) return cached;
    const resolved = this.#parse(address);
    cache.set(folder, address, resolved, resolved?.href.length ?? 0);
    return resolved;
  }

  #parse(address: string): Resolved | null {
    const url = URL.parse(address, this.#base);
    return url === null ? null : { href: url.href, protocol: url.protocol };
  }
}

/** Not for references to the page itself (`#top`, `?page=2`, nothing), nor for what parsers strip before reading. */
function dependsOnFolderOnly(address: string): boolean {
  const first = address.charCodeAt(0);
  return first > 0x20 && first !== 0x23 /* # */ && first !== 0x3f /* ? */ && address.length <= MAX_LENGTH;
}

/** `https://example.com/docs/` of `https://example.com/docs/page?a=/b`. */
function folderOf(base: string | null): string | null {
  const url = base === null ? null : URL.parse(base);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null;
  const end = url.href.search(/[?#]/);
  const path = end < 0 ? url.href : url.href.slice(0, end);
  return path.slice(0, path.lastIndexOf("/") + 1);
}
