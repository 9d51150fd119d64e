/**
 * A few bytes of JSON become some sixty in memory, in one uninterruptible step: the number of values is estimated before
 * parsing.
 */
export const MAX_JSON_VALUES = 1_500_000;

export function hasTooManyValues(json: string): boolean {
  if (json.length <= MAX_JSON_VALUES) return false;
  // Overestimates when strings contain commas and brackets.
  let count = 1;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x2c || code === 0x5b || code === 0x7b) count += 1;
  }
  return count > MAX_JSON_VALUES;
}
