/** A visible browser, behind the guard, until the user has signed in. Part of the composition root. */
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { StorageState } from "../../cli/wiring.ts";
import type { Config } from "../../config/options.ts";
import { navigationFailure } from "../../fetch/browser/navigation-failure.ts";
import { parseAddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import { openBrowser } from "../page-tools.ts";

/** Environment variables that a window needs besides those of every browser. */
const OF_THE_DISPLAY = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/** Null: no display. */
export function displayOf(
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): Record<string, string> | null {
  const found = Object.fromEntries(OF_THE_DISPLAY.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const visible = platform === "darwin" || platform === "win32" || "DISPLAY" in found || "WAYLAND_DISPLAY" in found;
  return visible ? found : null;
}

/** Opens the page and waits until `done` resolves or the window is closed; then returns the browser's storage state. */
export async function recordLogin(
  config: Config,
  log: Log,
  url: string,
  options: { display: Readonly<Record<string, string>>; done: () => Promise<void> },
): Promise<StorageState> {
  const target = checkUrl(url, parseAddressPolicy(config.allowPrivateNetworks));
  const pool = openBrowser(config, log, systemClock, { headed: true, env: options.display });
  try {
    return await pool.withPage({}, async ({ page, context, guest }) => {
      try {
        await page.goto(target.href, { waitUntil: "domcontentloaded", timeout: config.browserNavTimeoutMs });
      } catch (error) {
        throw guest.failureOf(target.host) ?? navigationFailure(error, target.host);
      }
      const closed = new Promise<void>((resolve) => page.once("close", () => resolve()));
      await Promise.race([options.done(), closed]);
      return context.storageState();
    });
  } finally {
    await pool.close();
  }
}
