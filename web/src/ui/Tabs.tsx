import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { moreBeyond } from "./logic/tabs.ts";
import "./tabs.css";

export interface Tab {
  id: string;
  /** A former id, which URLs may still have. */
  alias?: string;
  name: string;
  /** Shown after the name, outside of it: for screen readers the panel says the same. */
  count?: ReactNode;
  panel: () => ReactNode;
}

/**
 * Tabs whose selection is in the URL (`?tab=`), so that it can be shared and navigated. The default is the first; or
 * `first`, if that depends on state: then any selection is in the URL.
 */
export function Tabs({
  tabs,
  label,
  param = "tab",
  first,
}: {
  tabs: readonly Tab[];
  label: string;
  param?: string;
  first?: string;
}) {
  const [search, setSearch] = useSearchParams();
  // Back leads to the previous tab; arrow keys do not add a history entry each.
  const choose = (id: string, byKeys: boolean) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        if (first === undefined && id === tabs[0]?.id) next.delete(param);
        else next.set(param, id);
        return next;
      },
      { replace: byKeys },
    );
  return <TabView tabs={tabs} label={label} chosen={search.get(param) ?? first ?? null} choose={choose} />;
}

/** Tabs with local state, for components that occur several times. */
export function OwnTabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  const [chosen, choose] = useState<string | null>(null);
  return <TabView tabs={tabs} label={label} chosen={chosen} choose={choose} />;
}

function TabView({
  tabs,
  label,
  chosen: wanted,
  choose,
}: {
  tabs: readonly Tab[];
  label: string;
  chosen: string | null;
  choose: (id: string, byKeys: boolean) => void;
}) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const chosen = tabs.find(({ id, alias }) => id === wanted || (wanted !== null && alias === wanted)) ?? tabs[0];
  const more = useMore(list, tabs.map(({ id }) => id).join(), chosen?.id);
  if (chosen === undefined) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.indexOf(chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    if (next === undefined) return;
    choose(next.id, true);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div className="tabs">
      <div
        className="tab-list"
        role="tablist"
        aria-label={label}
        ref={list}
        data-more={more === "" ? undefined : more}
        onKeyDown={onKeyDown}
      >
        {tabs.map(({ id, name, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${base}-tab-${id}`}
            data-tab={id}
            aria-selected={id === chosen.id}
            aria-controls={`${base}-panel`}
            tabIndex={id === chosen.id ? 0 : -1}
            className="tab"
            onClick={() => (id === chosen.id ? undefined : choose(id, false))}
          >
            {name}
            {count === undefined ? null : (
              <span className="tab-count num" aria-hidden="true">
                {count}
              </span>
            )}
          </button>
        ))}
      </div>
      <div className="tab-panel" role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-tab-${chosen.id}`}>
        {chosen.panel()}
      </div>
    </div>
  );
}

/** Marks the edges where the list overflows, and scrolls to the selected tab. */
function useMore(list: RefObject<HTMLDivElement | null>, names: string, chosen: string | undefined): string {
  const [more, setMore] = useState("");
  useEffect(() => {
    const box = list.current;
    if (box === null) return;
    const look = () => setMore(moreBeyond(box));
    look();
    box.addEventListener("scroll", look, { passive: true });
    const resized = new ResizeObserver(look);
    for (const part of [box, ...box.children]) resized.observe(part);
    return () => {
      box.removeEventListener("scroll", look);
      resized.disconnect();
    };
  }, [list, names]);
  useEffect(() => {
    const box = list.current;
    const tab = box?.querySelector<HTMLElement>("[aria-selected=true]");
    if (box === null || box === undefined || tab === null || tab === undefined) return;
    // Not `scrollIntoView`: that would scroll the page.
    const [start, end] = [tab.offsetLeft - box.offsetLeft, tab.offsetLeft - box.offsetLeft + tab.offsetWidth];
    if (start < box.scrollLeft || end > box.scrollLeft + box.clientWidth)
      box.scrollLeft = start - (box.clientWidth - tab.offsetWidth) / 2;
  }, [list, names, chosen]);
  return more;
}
