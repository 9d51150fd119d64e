import type { QueryClient } from "@tanstack/react-query";

/** What has not come by then may never do: it is asked for anew. */
const PATIENCE_MS = 20_000;

/**
 * Loads again what is shown of operations, because something was told. What is on its way is not broken off for it: on a
 * slow line, where more is told before each answer, none would ever arrive. It is asked for once more afterwards.
 */
export function createLookAgain(client: QueryClient, now = () => Date.now()): (names: readonly string[]) => void {
  /** Since when. */
  const owed = new Map<string, number>();
  const look = (name: string) => {
    const since = owed.get(name) ?? now();
    const isOnItsWay = client.isFetching({ queryKey: [name] }) > 0;
    if (isOnItsWay && now() - since < PATIENCE_MS) return void owed.set(name, since);
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
