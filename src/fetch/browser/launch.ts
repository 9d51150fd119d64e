import { join } from "node:path";
import type { Browser, BrowserType } from "playwright-core";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { findChromium, type FindOptions } from "./find.ts";

interface LaunchOptions {
  log: Log;
  userAgent: string;
  /** Of the guarding proxy. */
  proxyAddress: string;
  /** APP_BROWSER_PATH. */
  path?: string | undefined;
  /** All that the browser sees of our environment: PATH, HOME, LANG, TMPDIR and the like, no secrets. */
  env: Readonly<Record<string, string>>;
  /** In a window that people see. */
  headed?: boolean;
}

const LAUNCH_MS = 60_000;

/** Starts browsers. Remembers whether the sandbox works here, so that the warning comes once. */
export class Launcher {
  readonly #options: LaunchOptions;
  #sandbox = true;

  constructor(options: LaunchOptions) {
    this.#options = options;
  }

  /** False once it turned out that the sandbox does not work here. */
  get sandboxed(): boolean {
    return this.#sandbox;
  }

  /** The program that `launch` would start. */
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
    // Loaded on first need: it is large, and most runs need no browser.
    const { chromium } = await import("playwright-core");
    const executablePath = await this.find();
    if (this.#sandbox && process.getuid?.() === 0) this.#withoutSandbox("the program runs as root");
    if (this.#sandbox) {
      try {
        return await this.#start(chromium, executablePath);
      } catch (error) {
        if (!/sandbox|namespace|zygote_host/i.test(messageOf(error))) throw launchFailure(error);
        this.#withoutSandbox("this machine does not let it");
      }
    }
    return this.#start(chromium, executablePath).catch((error: unknown) => {
      throw launchFailure(error);
    });
  }

  #withoutSandbox(why: string): void {
    this.#sandbox = false;
    this.#options.log.warn(
      `the browser runs without its sandbox, because ${why}; run as an ordinary user where sites are not trusted`,
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
      // Without a password: what does not belong to a page of ours gets nowhere. "<-loopback>" takes back Chromium's
      // habit of going to the machine itself without asking the proxy.
      proxy: { server: proxyAddress, bypass: "<-loopback>" },
      // The program that embeds us decides what a signal means; the browser ends with its pipe in any case.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args: [
        `--user-agent=${userAgent}`,
        "--disable-quic",
        // Names are resolved by the proxy alone, and WebRTC may not open sockets of its own.
        `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(proxyAddress).hostname}`,
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--dns-prefetch-disable",
        "--no-pings",
      ],
    });
  }
}

/** The path of a browser, if possible without loading the large launcher library. */
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

/** Where Playwright would have put its browsers. It names the whole one only; the shell stands beside it. */
function installedPaths(chromium: BrowserType): string[] {
  let whole: string;
  try {
    whole = chromium.executablePath();
  } catch {
    return [];
  }
  const [, folder, revision] = /^(.*[\\/])chromium-(\d+)[\\/]/.exec(whole) ?? [];
  if (folder === undefined || revision === undefined) return [whole];
  const program = whole.endsWith(".exe") ? "chrome-headless-shell.exe" : "chrome-headless-shell";
  const shells = SHELL_FOLDERS.map((name) =>
    join(folder, `chromium_headless_shell-${revision}`, `chrome-headless-shell-${name}`, program),
  );
  return [...shells, whole];
}

function launchFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const [line = ""] = messageOf(error).split("\n");
  return new FetchFailure("browser_failed", `the browser did not start: ${line}`, { cause: error });
}
