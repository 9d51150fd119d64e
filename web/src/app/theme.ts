/** Light, dark, or the system's setting. Stored per browser. */
import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "orb.theme";
const listeners = new Set<() => void>();
const dark = matchMedia("(prefers-color-scheme: dark)");

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === value) ?? "system";
}

function notify(): void {
  for (const listener of listeners) listener();
}

export function applyTheme(theme: Theme = stored()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme(theme);
  notify();
}

dark.addEventListener("change", notify);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The user's choice. */
export function useThemeChoice(): Theme {
  return useSyncExternalStore(subscribe, stored);
}

/** The effective theme. */
export function useTheme(): "light" | "dark" {
  return useSyncExternalStore(subscribe, () => {
    const theme = stored();
    return theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  });
}
