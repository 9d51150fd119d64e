import { useSearchParams } from "wouter";

/**
 * What is open in a drawer stands in the address under `param`. Opening it is a step of its own: Back closes it. Closing it
 * goes that step back, unless the page was opened with it. `more` stands in the address with it.
 */
export function useDrawer(param: string, more: Readonly<Record<string, string>> = {}) {
  const [search, setSearch] = useSearchParams();
  const opened = search.get(param);
  const put = (value: string | null, options: { replace: boolean; state?: unknown }) =>
    setSearch((old) => {
      const next = new URLSearchParams(old);
      for (const [name, text] of Object.entries(more)) next.set(name, text);
      if (value === null) next.delete(param);
      else next.set(param, value);
      return next;
    }, options);
  const isOwnStep = () => (history.state as { drawer?: unknown } | null)?.drawer === param;
  const open = (value: string) =>
    put(
      value,
      opened === null ? { replace: false, state: { drawer: param } } : { replace: true, state: history.state },
    );
  const close = () => {
    if (opened === null) return;
    if (isOwnStep()) history.back();
    else put(null, { replace: true });
  };
  return { opened, open, close };
}
