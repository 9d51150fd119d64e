/** Credentials bound to one origin. Browsers share cookies between all ports of a host; these stay on one port. */
export interface Bound {
  origin: string;
  /** Added to requests of exactly this origin. */
  headers: Readonly<Record<string, string>>;
  /** Names of the cookies that other origins of the host do not get. */
  cookies: ReadonlySet<string>;
}

/** Whether a browser would send the bound cookies to this URL although it is another origin. */
export function sharesCookies(bound: Bound, url: { origin: string; hostname: string }): boolean {
  return bound.cookies.size > 0 && url.origin !== bound.origin && url.hostname === new URL(bound.origin).hostname;
}

/** The value of a Cookie header without the bound cookies; may be empty. */
export function withoutBoundCookies(header: string, { cookies }: Bound): string {
  const kept = header.split(";").filter((pair) => {
    const [name = ""] = pair.split("=", 1);
    return !cookies.has(name.trim());
  });
  return kept.join(";").trim();
}
