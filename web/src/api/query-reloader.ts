import type { QueryClient } from "@tanstack/react-query";

/** A request that takes longer may never finish: start a new one. */
const PATIENCE_MS = 20_000;

/**
 * Reloads the queries of these operations after an event. Does not abort a request in flight: on a slow line, where
 * events are more frequent than responses, none would ever arrive. It is repeated afterwards.
 */
export function createQueryReloader(client: QueryClient, now = () => Date.now()): (names: readonly string[]) => void {
  /** Since when, by operation. */
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
