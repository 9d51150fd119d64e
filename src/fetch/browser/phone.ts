/** A page as a phone shows it. */
import type { BrowserContextOptions } from "playwright-core";

/** `version` is the browser's own: what it says it is, it can do. Whose program asks is still said, unless it plays a browser. */
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
