import type { BrowserContextOptions } from "playwright-core";

/**
 * Emulates a phone. `version` is the browser's own, so that the user agent matches its features. Our product token stays
 * in the user agent, unless the configured one imitates a browser.
 */
export function phoneOptions(userAgent: string, version: string): BrowserContextOptions {
  const [major = "0"] = version.split(".");
  const phone = `Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Mobile Safari/537.36`;
  return {
    viewport: { width: 412, height: 915 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    userAgent: userAgent.startsWith("Mozilla/") ? phone : `${phone} ${userAgent}`,
  };
}
