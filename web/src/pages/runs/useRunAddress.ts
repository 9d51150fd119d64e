import { useSearchParams } from "wouter";

/**
 * What is chosen within a tab stands in the address, and the tab with it: which one is shown first depends on how the run
 * is when somebody comes.
 */
export function useRunAddress(tab: string) {
  const [search, setSearch] = useSearchParams();
  const put = (key: string, value: string | null) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        next.set("tab", tab);
        if (value === null) next.delete(key);
        else next.set(key, value);
        return next;
      },
      { replace: true },
    );
  return { search, put };
}
