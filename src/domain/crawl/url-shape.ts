/**
 * The shape of a URL: numbers, dates, ids and hashes are replaced by placeholders. `/calendar/2031/7` and
 * `/calendar/2031/8` have one shape, `/blog/spring` and `/blog/autumn` have two: words are content, numbers can be
 * generated endlessly.
 */
export interface UrlShape {
  /** Host, path and query with placeholders: `shop.example/item/{n}?page={n}`. */
  readonly pattern: string;
  /** Whether it has a placeholder. */
  readonly varies: boolean;
  /** The pattern up to its first placeholder: shared by all pages of one generator. */
  readonly family: string;
  /** The segments of the path, with placeholders. */
  readonly segments: readonly string[];
  /** Host and path as they are. */
  readonly path: string;
  /** Days, months or years vary. */
  readonly dated: boolean;
  readonly parameters: number;
  /** A parameter holds an address, as in `/login?next=/basket`: there is one for every page. */
  readonly holdsAddress: boolean;
}

// A percent escape is one character of a word: its digits are no number.
const PIECES =
  /%[0-9a-f]{2}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<!\d)(?:19|20|21)\d\d-(?:0[1-9]|1[0-2])(?:-[0-3]\d)?(?!\d)|[0-9a-z]+/gi;
const YEAR_AND_MONTH = /\/(?:19|20|21)\d\d\/(?:0?[1-9]|1[0-2])(?=\/|$)/;
const DATE_NAMES =
  /^(?:date|day|month|year|week|start|end|from|to|since|until|time|timestamp|[dmyw]|mm|yy|yyyy)$|date/i;
const ADDRESS = /^(?:\/|%2F|https?(?::|%3A))/i;

/** `url`: in canonical form, so that one page has one shape. */
export function shapeOf(url: URL): UrlShape {
  const path = url.host + url.pathname;
  const shapedName = placeholders(url.pathname);
  const shapedPath = url.host + shapedName;
  const parts = url.search.length > 1 ? url.search.slice(1).split("&") : [];
  let [dated, holdsAddress] = [YEAR_AND_MONTH.test(url.pathname) || shapedPath.includes("{date}"), false];
  const shaped = parts.map((part) => {
    const equals = part.indexOf("=");
    if (equals < 0) return placeholders(part);
    const [name, value] = [part.slice(0, equals), part.slice(equals + 1)];
    const isAddress = ADDRESS.test(value);
    const pattern = isAddress ? "{address}" : placeholders(value);
    holdsAddress ||= isAddress;
    dated ||= pattern.includes("{date}") || (DATE_NAMES.test(name) && /^(?:\{n\}[-_.:T]?)+$/.test(pattern));
    return `${placeholders(name)}=${pattern}`;
  });
  const pattern = parts.length === 0 ? shapedPath : `${shapedPath}?${shaped.join("&")}`;
  const first = pattern.indexOf("{");
  return {
    pattern,
    varies: first >= 0,
    family: first < 0 ? pattern : pattern.slice(0, first),
    segments: shapedName.split("/").filter((segment) => segment !== ""),
    path,
    dated,
    parameters: parts.length,
    holdsAddress,
  };
}

function placeholders(text: string): string {
  if (!/[0-9]/.test(text)) return text;
  return text.replace(PIECES, (piece) => {
    if (piece.startsWith("%")) return piece;
    if (piece.includes("-")) return piece.length === 36 ? "{uuid}" : "{date}";
    if (!/[0-9]/.test(piece)) return piece;
    if (!/[a-z]/i.test(piece)) return "{n}";
    if (piece.length >= 8 && /^(?:[0-9a-f]+|[0-9A-F]+)$/.test(piece)) return "{hex}";
    // Letters in both cases and digits, as in short links and tokens.
    if (piece.length >= 20 && /[a-z]/.test(piece) && /[A-Z]/.test(piece)) return "{token}";
    return piece.replace(/[0-9]+/g, "{n}");
  });
}
