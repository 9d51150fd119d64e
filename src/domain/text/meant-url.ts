/** Addresses in files that people write by hand: relative ones, and such as leave out the scheme. */

/** As an absolute address; null when it is none. `base`: where the file was fetched from; without one nothing is relative. */
export function meantUrl(text: string, base?: string): URL | null {
  if (text === "") return null;
  const scheme = /^(https?):\/*(?=[^/])/i.exec(text);
  if (scheme !== null) return URL.parse(`${scheme[1]}://${text.slice(scheme[0].length)}`);
  const home = base === undefined ? null : URL.parse(base);
  if (home === null) return URL.parse(text);
  const host = /^[a-z\d-]+(?:\.[a-z\d-]+)+(?=(?::\d+)?(?:[/?#]|$))/i.exec(text)?.[0];
  const isHost = host !== undefined && isRelated(host.toLowerCase(), home.hostname);
  return URL.parse(isHost ? `//${text}` : text, home.href);
}

/** `map.xml` may be a file or a host: it is a host when it is that of the file, one above it, or one below it. */
function isRelated(host: string, home: string): boolean {
  const [one, other] = [withoutWww(host), withoutWww(home)];
  return one === other || one.endsWith(`.${other}`) || (one.includes(".") && other.endsWith(`.${one}`));
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, "");
}
