import type { QueryClient } from "@tanstack/react-query";

/**
 * Loads again what is shown of operations, because something was told. What is on its way is not broken off for it: on a
 * slow line, where more is told before each answer, none would ever arrive. It is asked for once more afterwards.
 */
export function createLookAgain(client: QueryClient): (names: readonly string[]) => void {
  const owed = new Set<string>();
  const look = (name: string) => {
    if (client.isFetching({ queryKey: [name] }) > 0) return void owed.add(name);
    owed.delete(name);
    return void client.invalidateQueries({ queryKey: [name] });
  };
  client.getQueryCache().subscribe(({ type, query }) => {
    const name = String(query.queryKey[0]);
    if (type === "updated" && owed.has(name) && query.state.fetchStatus === "idle") look(name);
  });
  return (names) => {
    for (const name of names) look(name);
  };
}
