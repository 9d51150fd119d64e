/** Whether two texts name the same thing: `New Zealand` and `New Zealand - Wikipedia` do. */
export function agrees(text: string, other: string): boolean {
  const [a, b] = [normalized(text), normalized(other)];
  if (a === "" || b === "") return false;
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  // A single short word occurs in many texts by chance.
  return (short.length >= 8 || short.includes(" ")) && ` ${long} `.includes(` ${short} `);
}

export function isSameName(text: string, other: string): boolean {
  return normalized(text) !== "" && normalized(text) === normalized(other);
}

const MAX_COMPARED = 1000;

function normalized(text: string): string {
  const letters = text.slice(0, MAX_COMPARED).normalize("NFKC").toLowerCase();
  return letters
    .replace(/['\u2019]/g, "")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}
