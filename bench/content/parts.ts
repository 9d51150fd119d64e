/** The parts of a cross-validation. Pages of one site are all in the same part. */
export const PARTS = 10;

export function partOf({ url }: { url: string }): number {
  const site = new URL(url).hostname.split(".").slice(-2).join(".");
  let hash = 7;
  for (const character of site) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  return hash % PARTS;
}
