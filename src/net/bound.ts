/** What a page was given for one origin. Browsers share cookies between all ports of a host; these are for one alone. */
export interface Bound {
  origin: string;
  /** Added to requests of exactly this origin. */
  headers: Readonly<Record<string, string>>;
  /** Names of the cookies that other origins of the host do not get. */
  cookies: ReadonlySet<string>;
}

/** Whether a browser would send the bound cookies there although they belong elsewhere. */
export function sharesCookies(bound: Bound, url: { origin: string; hostname: string }): boolean {
  return bound.cookies.size > 0 && url.origin !== bound.origin && url.hostname === new URL(bound.origin).hostname;
}

/** The value of a Cookie header without the bound ones; empty when nothing is left of it. */
export function withoutBoundCookies(header: string, { cookies }: Bound): string {
  const kept = header.split(";").filter((pair) => {
    const [name = ""] = pair.split("=", 1);
    return !cookies.has(name.trim());
  });
  return kept.join(";").trim();
}
