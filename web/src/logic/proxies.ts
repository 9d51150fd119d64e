/** What went wrong with a proxy, without its address, which stands beside it. */
export function proxyTrouble(message: string): string {
  const rest = message.replace(/^the proxy \S+ /, "");
  return rest.slice(0, 1).toUpperCase() + rest.slice(1);
}
