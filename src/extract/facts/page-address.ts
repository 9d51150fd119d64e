/** Recognises a page's own URL, with and without `www.`, a trailing slash or campaign parameters. */

export class PageAddresses {
  readonly #urls: URL[];

  constructor(...addresses: (string | null)[]) {
    this.#urls = addresses.flatMap((address) => (address === null ? [] : (URL.parse(address) ?? [])));
  }

  get isKnown(): boolean {
    return this.#urls.length > 0;
  }

  /** A start page describes the whole site. */
  get isStartPage(): boolean {
    return this.#urls.some(({ pathname, search }) => pathname === "/" && search === "");
  }

  includes(address: string): boolean {
    const url = URL.parse(address);
    if (url === null || !/^https?:$/.test(url.protocol)) return false;
    return this.#urls.some((pageUrl) => hostAndPath(pageUrl) === hostAndPath(url) && hasSameQuery(url, pageUrl));
  }
}

function hostAndPath({ hostname, pathname }: URL): string {
  const path = pathname.replace(/\/(?:index\.(?:html?|php))?$/i, "");
  return `${hostname.replace(/^www\./, "")}${path}`;
}

function hasSameQuery(url: URL, pageUrl: URL): boolean {
  if (url.search === "" || url.search === pageUrl.search) return true;
  return [...url.searchParams].every(([name, value]) => pageUrl.searchParams.get(name) === value);
}
