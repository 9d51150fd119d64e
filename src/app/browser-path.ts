/** Whether a browser is available for pages that need one. Part of the composition root. */
import { harmlessEnvironment } from "../base/machine.ts";
import type { Config } from "../config/options.ts";
import { findWithoutLoading } from "../fetch/browser/launch.ts";

/** The program that would be started, or the option that names remote ones; null: none. Starts nothing, and loads little. */
export async function findBrowserPath(config: Pick<Config, "browserPath" | "browserUrl">): Promise<string | null> {
  const { browserPath, browserUrl } = config;
  if (browserUrl !== null) return "APP_BROWSER_URL";
  const searchPath = harmlessEnvironment()["PATH"] ?? "";
  return findWithoutLoading({ searchPath, path: browserPath ?? undefined }).catch(() => null);
}
