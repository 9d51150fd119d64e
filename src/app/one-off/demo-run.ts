/** `orb demo`: a server in its own folder, recreated each time. Part of the composition root. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OrbError } from "../../base/errors.ts";
import { makeFolder } from "../../base/files/file-modes.ts";
import type { Log } from "../../base/log.ts";
import { mayBeAlive, ownIdentity, type ProcessIdentity } from "../../base/machine.ts";
import { productVersion } from "../../base/version.ts";
import { findBrowserPath } from "../browser-path.ts";
import type { CliDemo } from "../../cli/wiring.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import { galleryWorkflow } from "../../demo/tour.ts";
import { SCRIPTED_PATHS } from "../../demo/corners.ts";
import { startServer } from "../server.ts";

const FOLDER = "demo";
/** Marks the folder as a demo's, with its owner. */
const MARK = "orb-demo.json";

export async function startDemo(config: Config, log: Log, { keep }: { keep: boolean }): Promise<CliDemo> {
  const folder = join(config.dataDir, FOLDER);
  takeFolder(folder);
  const drop = () => {
    if (!keep) rmSync(folder, { recursive: true, force: true });
  };
  try {
    const demoSettings = demoConfig(folder, config);
    const server = await startServer(demoSettings, log, { version: productVersion(), worker: true });
    return {
      url: server.url,
      folder,
      browser: await findBrowserPath(demoSettings),
      scripted: SCRIPTED_PATHS,
      galleryWorkflow,
      stop: async () => {
        await server.stop();
        drop();
      },
    };
  } catch (error) {
    drop();
    throw error;
  }
}

/** Takes only the browser from the configuration: a demo must not touch real data. */
function demoConfig(folder: string, { browserPath, userAgent }: Config): Config {
  const env = {
    APP_DATA_DIR: folder,
    APP_DATABASE_URL: `sqlite:${join(folder, "orb.db")}`,
    APP_PORT: "0",
    APP_USER_AGENT: userAgent,
    APP_BROWSER_PATH: browserPath ?? "",
    // Few at once, so that there is something to watch; short waits, so that it does not take long.
    APP_MAX_PER_HOST: "4",
    APP_RETRY_BASE_SECONDS: "1",
    APP_RETRY_MAX_SECONDS: "5",
    APP_SHUTDOWN_GRACE_SECONDS: "3",
  };
  return loadConfig({ env, cwd: folder }).config;
}

/** Deletes what an earlier demo left, however it ended. Does not touch other folders. */
function takeFolder(folder: string): void {
  const mark = join(folder, MARK);
  const found = namesIn(folder);
  if (found.length > 0 && !found.includes(MARK))
    throw new OrbError("demo_unavailable", `${folder} contains files that do not belong to the demo`, {
      hint: "Move it away, or set APP_DATA_DIR to another folder.",
    });
  const owner = found.length === 0 ? null : readOwner(mark);
  if (owner !== null && mayBeAlive(owner))
    throw new OrbError("demo_unavailable", `another orb demo is running here: process ${owner.pid}`, {
      hint: "Stop it with Ctrl-C in its terminal, or set APP_DATA_DIR to another folder.",
    });
  // The mark goes last: a partly deleted folder is still recognised.
  for (const name of found) if (name !== MARK) rmSync(join(folder, name), { recursive: true, force: true });
  makeFolder(folder);
  writeFileSync(mark, JSON.stringify(ownIdentity()));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Null: it was killed before it wrote its identity. */
function readOwner(mark: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(mark, "utf8")) as ProcessIdentity;
  } catch {
    return null;
  }
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", linux: "xdg-open" };

/** Asks the desktop to open a URL. */
export function showPage(url: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const opener = OPENERS[process.platform];
  if (opener === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(opener, [url], { stdio: "ignore", detached: true, env: { ...env } });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
