import type { OperationName } from "../api/client.ts";
import type { IconName } from "../ui/Icon.tsx";

interface NavEntry {
  href: string;
  name: string;
  icon: IconName;
  /** The call without which the page is empty: hidden from those who may not make it. */
  needs?: OperationName;
}

export const NAV: readonly NavEntry[] = [
  { href: "/", name: "Overview", icon: "overview", needs: "getOverview" },
  { href: "/runs", name: "Runs", icon: "runs" },
  { href: "/workflows", name: "Workflows", icon: "workflows" },
  { href: "/jobs", name: "Jobs", icon: "jobs" },
  { href: "/sites", name: "Sites", icon: "sites", needs: "listSites" },
  { href: "/proxies", name: "Proxies", icon: "proxies", needs: "listProxies" },
  { href: "/workers", name: "Workers", icon: "workers", needs: "listWorkers" },
  { href: "/queue", name: "Queue", icon: "queue", needs: "getQueueStats" },
  { href: "/schedules", name: "Schedules", icon: "schedules" },
  { href: "/notifications", name: "Notifications", icon: "info", needs: "listChannels" },
  { href: "/settings", name: "Settings", icon: "settings" },
];

/** Whether an entry leads to the current page or its parent. */
export function isHere(href: string, path: string): boolean {
  return href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
}

/** The entry that a page belongs to. */
export const pageOf = (path: string): NavEntry | undefined => NAV.find(({ href }) => isHere(href, path));
