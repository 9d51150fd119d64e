/** What went wrong with a proxy, without its address, which stands beside it. */
export function proxyProblem(message: string): string {
  const rest = message.replace(/^the proxy \S+ /, "");
  return rest.slice(0, 1).toUpperCase() + rest.slice(1);
}

/** What is left to be imported: the lines that were refused. All of them, while it is not known of each. */
export function refusedLines(
  lines: readonly string[],
  { invalid, invalid_count }: { invalid: readonly { index: number }[]; invalid_count: number },
): string[] {
  if (invalid.length < invalid_count) return [...lines];
  const refused = new Set(invalid.map(({ index }) => index));
  return lines.filter((_line, index) => refused.has(index));
}
