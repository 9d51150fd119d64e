/** `orb doctor --fix`: repairs what needs no decision. Part of the composition root. */
import { spawn } from "node:child_process";
import { chmodSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/files/file-modes.ts";
import { harmlessEnvironment } from "../../base/machine.ts";
import { findBrowserPath } from "../browser-path.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import { closeArtifacts, closeToOthers } from "../file-access.ts";
import { installCommand, isExecutable } from "../../fetch/browser/find.ts";
import { secretKeyFile } from "../secret-key.ts";

type Report = (text: string) => void;

/** Reports what it does. Problems it cannot fix are left to the check afterwards, which names the command. */
export async function mend(load: () => LoadedConfig, report: Report): Promise<void> {
  let config: Config;
  try {
    ({ config } = load());
  } catch {
    // Only the owner can fix a broken configuration.
    return;
  }
  try {
    if (makeFolder(config.dataDir) !== undefined) report(`created ${config.dataDir}`);
    closeKey(config, report);
    const said = (message: string, fields?: Record<string, unknown>) =>
      report(`${message}: ${[fields?.["paths"] ?? fields?.["path"]].flat().join(", ")}`);
    closeToOthers(config, { info: said, warn: said });
    await closeArtifacts(config, { info: said, warn: said }, new AbortController().signal);
  } catch (error) {
    report(messageOf(error));
  }
  if ((await findBrowserPath(config)) === null) await bringBrowser(config, report);
}

function closeKey(config: Config, report: Report): void {
  if (config.secretKey !== null || process.platform === "win32") return;
  const path = secretKeyFile(config);
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || (file.mode & 0o077) === 0) return;
  chmodSync(path, 0o600);
  report(`${path} is now readable by its owner only`);
}

/** The headless shell is smaller and faster; older Debian releases only have the full browser. */
const PACKAGES = ["chromium-headless-shell", "chromium"];

async function bringBrowser({ browserPath }: Config, report: Report): Promise<void> {
  if (browserPath !== null) return report(`there is no browser at ${browserPath}: correct or unset APP_BROWSER_PATH`);
  const command = await installCommand();
  const apt = await onPath("apt-get");
  if (apt === null || process.getuid?.() !== 0 || !command.startsWith("apt-get "))
    return report(`a browser cannot be installed automatically on this system; run: ${command}`);
  report("installing a Chromium, which may take a minute");
  for (const refresh of [false, true]) {
    // Package lists are updated only if installing fails with the present ones.
    if (refresh) await run(apt, ["update"]);
    for (const name of PACKAGES) if (await run(apt, ["install", "-y", "--no-install-recommends", name])) return;
  }
  return report("apt-get could not install it: check the network connection");
}

async function onPath(name: string): Promise<string | null> {
  for (const folder of (harmlessEnvironment()["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (folder !== "" && (await isExecutable(path))) return path;
  }
  return null;
}

function run(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const env = { ...harmlessEnvironment(), DEBIAN_FRONTEND: "noninteractive" };
    const child = spawn(program, ["-qq", "-o", "DPkg::Lock::Timeout=120", ...args], { stdio: "ignore", env });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}
