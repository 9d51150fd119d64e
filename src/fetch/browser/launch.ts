import { join } from "node:path";
import type { Browser, BrowserType } from "playwright-core";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { findChromium, type FindOptions } from "./find.ts";

interface LaunchOptions {
  log: Log;
  userAgent: string;
  /** Of `BrowserProxy`. */
  proxyAddress: string;
  /** APP_BROWSER_PATH. */
  path?: string | undefined;
  /** The browser's whole environment: PATH, HOME, LANG, TMPDIR and the like, no secrets. */
  env: Readonly<Record<string, string>>;
  /** Show a window. */
  headed?: boolean;
}

const LAUNCH_MS = 60_000;

/** Starts browsers. Remembers whether the sandbox works, so that the warning is logged once. */
export class Launcher {
  readonly #options: LaunchOptions;
  #sandbox = true;

  constructor(options: LaunchOptions) {
    this.#options = options;
  }

  /** False after a launch has shown that the sandbox does not work here. */
  get sandboxed(): boolean {
    return this.#sandbox;
  }

  /** The executable that `launch` starts. */
  async find(): Promise<string> {
    const { chromium } = await import("playwright-core");
    return findChromium({
      path: this.#options.path,
      searchPath: this.#options.env["PATH"] ?? "",
      installed: installedPaths(chromium),
      headed: this.#options.headed === true,
    });
  }

  async launch(): Promise<Browser> {
    // Lazy: it is large, and most runs need no browser.
    const { chromium } = await import("playwright-core");
    const executablePath = await this.find();
    if (this.#sandbox && process.getuid?.() === 0) this.#withoutSandbox("the program runs as root");
    if (this.#sandbox) {
      try {
        return await this.#start(chromium, executablePath);
      } catch (error) {
        if (!/sandbox|namespace|zygote_host/i.test(messageOf(error))) throw launchFailure(error);
        this.#withoutSandbox("this machine does not allow it");
      }
    }
    return this.#start(chromium, executablePath).catch((error: unknown) => {
      throw launchFailure(error);
    });
  }

  #withoutSandbox(why: string): void {
    this.#sandbox = false;
    this.#options.log.warn(
      `the browser runs without its sandbox, because ${why}; for untrusted sites, run as an ordinary user`,
    );
  }

  #start(chromium: BrowserType, executablePath: string): Promise<Browser> {
    const { userAgent, proxyAddress, env } = this.#options;
    return chromium.launch({
      executablePath,
      headless: this.#options.headed !== true,
      chromiumSandbox: this.#sandbox,
      env,
      timeout: LAUNCH_MS,
      // Without a password: traffic outside our pages is rejected. "<-loopback>" disables Chromium's implicit proxy
      // bypass for loopback addresses.
      proxy: { server: proxyAddress, bypass: "<-loopback>" },
      // The embedding program handles signals; the browser ends with its pipe in any case.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args: [
        `--user-agent=${userAgent}`,
        "--disable-quic",
        // Only the proxy resolves names, and WebRTC must not open its own sockets.
        `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(proxyAddress).hostname}`,
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--dns-prefetch-disable",
        "--no-pings",
      ],
    });
  }
}

/** The path of a browser, if possible without loading Playwright. */
export async function findWithoutLoading(options: Pick<FindOptions, "path" | "searchPath">): Promise<string> {
  try {
    return await findChromium({ ...options, installed: [] });
  } catch (error) {
    if (options.path !== undefined) throw error;
    const { chromium } = await import("playwright-core");
    return findChromium({ ...options, installed: installedPaths(chromium) });
  }
}

const SHELL_FOLDERS = ["linux64", "linux-arm64", "mac-arm64", "mac-x64", "win64"];

/** Where Playwright installs its browsers. It reports only the full one; the headless shell is next to it. */
function installedPaths(chromium: BrowserType): string[] {
  let fullPath: string;
  try {
    fullPath = chromium.executablePath();
  } catch {
    return [];
  }
  const [, folder, revision] = /^(.*[\\/])chromium-(\d+)[\\/]/.exec(fullPath) ?? [];
  if (folder === undefined || revision === undefined) return [fullPath];
  const program = fullPath.endsWith(".exe") ? "chrome-headless-shell.exe" : "chrome-headless-shell";
  const shells = SHELL_FOLDERS.map((name) =>
    join(folder, `chromium_headless_shell-${revision}`, `chrome-headless-shell-${name}`, program),
  );
  return [...shells, fullPath];
}

function launchFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const [line = ""] = messageOf(error).split("\n");
  return new FetchFailure("browser_failed", `the browser did not start: ${line}`, { cause: error });
}
