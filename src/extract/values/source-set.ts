/** An image candidate of a `srcset`. */
interface SourceCandidate {
  address: string;
  /** `2x`, `480w`; empty: none. */
  size: string;
}

const SPACE = /[\t\n\f\r ]/;

/** Parses like browsers: URLs may contain commas; only a comma at the end of the URL or after its size ends a candidate. */
export function readSourceSet(value: string): SourceCandidate[] {
  const list: SourceCandidate[] = [];
  for (let at = 0; at < value.length;) {
    while (at < value.length && (value[at] === "," || SPACE.test(value[at]!))) at += 1;
    let end = at;
    while (end < value.length && !SPACE.test(value[end]!)) end += 1;
    const word = value.slice(at, end);
    if (word === "") break;
    const address = word.replace(/,+$/, "");
    at = end;
    let size = "";
    if (address === word) {
      const comma = value.indexOf(",", at);
      size = value.slice(at, comma < 0 ? undefined : comma).trim();
      at = comma < 0 ? value.length : comma;
    }
    list.push({ address, size });
  }
  return list;
}

/** Picks the accepted source with the most pixels; the first one wins a tie. */
export function largestSource(value: string, accepts: (address: string) => boolean): string | null {
  let best: string | null = null;
  let maxPixels = -1;
  for (const { address, size } of readSourceSet(value)) {
    if (!accepts(address)) continue;
    const pixels = Number.parseFloat(size) || 0;
    if (pixels <= maxPixels) continue;
    best = address;
    maxPixels = pixels;
  }
  return best;
}
