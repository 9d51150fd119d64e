/** Keyboard shortcuts: single keys, and `g` followed by another. */

export interface Shortcut {
  /** As pressed: "n", "?", or "g r". */
  keys: string;
  about: string;
  go?: string;
}

export const GO_TO: readonly Shortcut[] = [
  { keys: "g o", about: "Overview", go: "/" },
  { keys: "g r", about: "Runs", go: "/runs" },
  { keys: "g w", about: "Workflows", go: "/workflows" },
  { keys: "g j", about: "Jobs", go: "/jobs" },
  { keys: "g s", about: "Sites", go: "/sites" },
  { keys: "g p", about: "Proxies", go: "/proxies" },
  { keys: "g k", about: "Workers", go: "/workers" },
  { keys: "g q", about: "Queue", go: "/queue" },
  { keys: "g c", about: "Schedules", go: "/schedules" },
  { keys: "g ,", about: "Settings", go: "/settings" },
];

export const GENERAL: readonly Shortcut[] = [
  { keys: "n", about: "New scrape, crawl or workflow", go: "/new" },
  { keys: "/", about: "Search runs" },
  { keys: "?", about: "This help" },
  { keys: "Esc", about: "Close the open dialog" },
];

export const IN_LISTS: readonly Shortcut[] = [
  { keys: "j", about: "Next row" },
  { keys: "k", about: "Previous row" },
  { keys: "Enter", about: "Open the row" },
];

/** How long the second key of a pair may take. */
export const PAIR_MS = 1200;

interface KeyState {
  /** The first key of a pair, and when it was pressed. */
  first: string | null;
  at: number;
}

export const NO_KEY: KeyState = { first: null, at: 0 };

interface Pressed {
  key: string;
  /** With Ctrl, Alt or Cmd: those belong to the browser. */
  modified: boolean;
  /** In a text field. */
  typing: boolean;
  at: number;
}

/** The action of a key, and the state for the next one. */
export function press(
  state: KeyState,
  { key, modified, typing, at }: Pressed,
): { state: KeyState; keys: string | null } {
  if (modified || typing) return { state: NO_KEY, keys: null };
  if (state.first !== null && at - state.at <= PAIR_MS) {
    const keys = `${state.first} ${key}`;
    return { state: NO_KEY, keys: GO_TO.some((one) => one.keys === keys) ? keys : null };
  }
  if (key === "g") return { state: { first: key, at }, keys: null };
  return { state: NO_KEY, keys: key };
}
