/** Whether an address is this page's own: sites write theirs with and without `www.`, a last slash or a campaign's parameters. */

export class PageAddresses {
  readonly #own: URL[];

  constructor(...addresses: (string | null)[]) {
    this.#own = addresses.flatMap((address) => (address === null ? [] : (URL.parse(address) ?? [])));
  }

  get isKnown(): boolean {
    return this.#own.length > 0;
  }

  /** A start page describes the whole site. */
  get isStartPage(): boolean {
    return this.#own.some(({ pathname, search }) => pathname === "/" && search === "");
  }

  includes(address: string): boolean {
    const url = URL.parse(address);
    if (url === null || !/^https?:$/.test(url.protocol)) return false;
    return this.#own.some((own) => placeOf(own) === placeOf(url) && asksNothingElse(url, own));
  }
}

function placeOf({ hostname, pathname }: URL): string {
  const path = pathname.replace(/\/(?:index\.(?:html?|php))?$/i, "");
  return `${hostname.replace(/^www\./, "")}${path}`;
}

function asksNothingElse(url: URL, own: URL): boolean {
  if (url.search === "" || url.search === own.search) return true;
  return [...url.searchParams].every(([name, value]) => own.searchParams.get(name) === value);
}
