import type { IconName } from "../ui/Icon.tsx";

interface NavEntry {
  href: string;
  name: string;
  icon: IconName;
}

export const NAV: readonly NavEntry[] = [
  { href: "/", name: "Overview", icon: "overview" },
  { href: "/runs", name: "Runs", icon: "runs" },
  { href: "/workflows", name: "Workflows", icon: "workflows" },
  { href: "/jobs", name: "Jobs", icon: "jobs" },
  { href: "/sites", name: "Sites", icon: "sites" },
  { href: "/proxies", name: "Proxies", icon: "proxies" },
  { href: "/workers", name: "Workers", icon: "workers" },
  { href: "/queue", name: "Queue", icon: "queue" },
  { href: "/schedules", name: "Schedules", icon: "schedules" },
  { href: "/notifications", name: "Notifications", icon: "info" },
  { href: "/settings", name: "Settings", icon: "settings" },
];

/** Whether an entry leads to the current page or its parent. */
export function isHere(href: string, path: string): boolean {
  return href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
}
