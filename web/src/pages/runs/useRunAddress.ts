import { useSearchParams } from "wouter";

/** Choices within a tab are in the URL together with the tab: the default tab depends on the run's current state. */
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
