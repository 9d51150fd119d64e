import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { GENERAL, GO_TO, NO_KEY, press } from "../logic/shortcuts.ts";

/** Keys that work on every page. */
export function useShortcuts(actions: { onSearch: () => void; onHelp: () => void }): void {
  const [, go] = useLocation();
  const latest = useRef({ ...actions, go });
  latest.current = { ...actions, go };
  useEffect(() => {
    let state = NO_KEY;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector("dialog[open]") !== null) return;
      const target = event.target as HTMLElement;
      const pressed = press(state, {
        key: event.key,
        modified: event.ctrlKey || event.metaKey || event.altKey,
        typing: target.closest("input, textarea, select, [contenteditable]") !== null,
        at: event.timeStamp,
      });
      state = pressed.state;
      if (pressed.keys === null) return;
      const { go: goTo, onSearch, onHelp } = latest.current;
      const href = [...GO_TO, ...GENERAL].find(({ keys }) => keys === pressed.keys)?.go;
      if (href !== undefined) goTo(href);
      else if (pressed.keys === "/") onSearch();
      else if (pressed.keys === "?") onHelp();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
