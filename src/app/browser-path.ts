/** Whether a browser is available for pages that need one. Part of the composition root. */
import { harmlessEnvironment } from "../base/machine.ts";
import type { Config } from "../config/options.ts";
import { findWithoutLoading } from "../fetch/browser/launch.ts";

/** The program that would be started; null: none. Starts nothing, and loads little. */
export async function findBrowserPath({ browserPath }: Pick<Config, "browserPath">): Promise<string | null> {
  const searchPath = harmlessEnvironment()["PATH"] ?? "";
  return findWithoutLoading({ searchPath, path: browserPath ?? undefined }).catch(() => null);
}
