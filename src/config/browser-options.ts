/** Options of browsers: our own, and remote ones. */
import { option, optional } from "./option.ts";
import * as type from "./types.ts";

export const BROWSER_OPTIONS = {
  browserNavTimeoutMs: option({
    name: "APP_BROWSER_NAV_TIMEOUT_MS",
    type: type.integer(50, 3_600_000),
    default: "30000",
    about: "Time limit for opening a page in a browser, in milliseconds.",
    example: "45000",
  }),
  browserPath: optional({
    name: "APP_BROWSER_PATH",
    type: type.path,
    otherwise: "found",
    about: "Chromium executable. Default: the one of Playwright, otherwise the one of the system.",
    example: "/usr/bin/chromium",
  }),
  browserMaxPages: optional({
    name: "APP_BROWSER_MAX_PAGES",
    type: type.integer(1, 1000),
    otherwise: "by memory",
    about: "Maximum open browser pages per process.",
    example: "4",
  }),
  browserUrl: optional({
    name: "APP_BROWSER_URL",
    type: type.browsers,
    otherwise: "a browser of this machine",
    about:
      "Remote browsers (CDP endpoints) that open the pages instead of the browser of this machine; with `local` in the list, beside it: [browsers](browsers.md).",
    example: "ws://10.0.0.7:9222,http://10.0.0.8:9222,local",
    secret: "passwords",
  }),
  browserUrlPages: option({
    name: "APP_BROWSER_URL_PAGES",
    type: type.integer(1, 1000),
    default: "8",
    about: "Maximum open pages of a process in each browser of APP_BROWSER_URL.",
    example: "16",
  }),
  browserProxyHost: optional({
    name: "APP_BROWSER_PROXY_HOST",
    type: type.host,
    about:
      "Name or address at which the browsers of APP_BROWSER_URL reach this machine: their pages connect through its guarding proxy. Not needed for browsers on this machine.",
    example: "10.0.0.5",
  }),
  browserProxyPort: option({
    name: "APP_BROWSER_PROXY_PORT",
    type: type.integer(0, 65_535),
    default: "0",
    about: "Port of that proxy; 0: any free one. Processes on one machine need different ports.",
    example: "8118",
  }),
  browserProxyListen: optional({
    name: "APP_BROWSER_PROXY_LISTEN",
    type: type.host,
    otherwise: "APP_BROWSER_PROXY_HOST if it is an address, otherwise all",
    about: "Address on which that proxy listens, if it differs from the one at which the browsers reach it.",
    example: "0.0.0.0",
  }),
  browserTrusted: option({
    name: "APP_BROWSER_TRUSTED",
    type: type.boolean,
    default: "false",
    about:
      "Lets the browsers of APP_BROWSER_URL connect without the guarding proxy. Their pages can then reach every address that these browsers can reach: [what is lost](browsers.md#without-the-guarding-proxy).",
    example: "true",
  }),
  liveViews: option({
    name: "APP_LIVE_VIEWS",
    type: type.integer(0, 100),
    default: "2",
    about: "Maximum [live views](live-view.md) per server: pages that people control by hand. 0: none.",
    example: "5",
  }),
  liveViewIdleMs: option({
    name: "APP_LIVE_VIEW_IDLE_SECONDS",
    type: type.duration("seconds", 1, 86_400),
    default: "300",
    about: "A live view that nobody uses closes after this time.",
    example: "120",
  }),
  liveViewTotalMs: option({
    name: "APP_LIVE_VIEW_MAX_SECONDS",
    type: type.duration("seconds", 1, 86_400),
    default: "1800",
    about: "Longest time that a live view stays open.",
    example: "3600",
  }),
} as const;
