import { useSearchParams } from "wouter";

/**
 * The open drawer is in the URL under `param`. Opening adds a history entry: Back closes it. Closing goes back, unless
 * the page was opened with it. `more` are further parameters.
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
