/** A proxy's error without its URL, which is shown beside it. */
export function proxyProblem(message: string): string {
  const rest = message.replace(/^the proxy \S+ /, "");
  return rest.slice(0, 1).toUpperCase() + rest.slice(1);
}

/** The rejected lines, left for another try. All lines, if not every rejection is listed. */
export function refusedLines(
  lines: readonly string[],
  { invalid, invalid_count }: { invalid: readonly { index: number }[]; invalid_count: number },
): string[] {
  if (invalid.length < invalid_count) return [...lines];
  const refused = new Set(invalid.map(({ index }) => index));
  return lines.filter((_line, index) => refused.has(index));
}
