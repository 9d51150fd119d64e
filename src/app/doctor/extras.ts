/** Checks optional parts of an installation: browser, session key, managed services, user handlers. */
import { statSync } from "node:fs";
import type { DoctorCheck } from "../../cli/wiring.ts";
import { systemClock } from "../../base/clock.ts";
import { isOrbError, messageOf } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { harmlessEnvironment } from "../../base/machine.ts";
import type { Config } from "../../config/options.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { installCommand } from "../../fetch/browser/find.ts";
import { Launcher } from "../../fetch/browser/launch.ts";
import { UserCode } from "../../lanes/handlers/user/user-code.ts";
import { openBrowser, remoteBrowsers } from "../page-tools.ts";
import { examineProvider } from "./provider.ts";
import { whoListens } from "../port-in-use.ts";
import { secretKeyFile } from "../secret-key.ts";
import { serviceFolder, SERVICES } from "../../supervisor/services/services.ts";

/** `apart`: how this machine's clock differs from the database's. */
export async function examineExtras(
  config: Config,
  apart: { what: string; fix: string } | null = null,
): Promise<DoctorCheck[]> {
  return [
    ...(await examineBrowsers(config)),
    examineKey(config),
    ...examineServices(config),
    ...(await examineHandlers(config)),
    ...(await examineProvider(config)),
    apart === null ? examineClock() : { name: "clock", status: "warning", ...apart },
    await examinePort(config),
  ];
}

/** The local browser is examined only if pages may open in it. */
async function examineBrowsers(config: Config): Promise<DoctorCheck[]> {
  const remote = remoteBrowsers(config);
  if (remote === undefined) return [await examineBrowser(config)];
  const local = remote.local ? [await examineBrowser(config)] : [];
  const pool = openBrowser(config, silentLog, systemClock);
  try {
    await pool.connect();
    const guarded = remote.trusted ? "connects without the guarding proxy" : "uses the guarding proxy";
    return [
      ...local,
      ...pool.browsers.map((one): DoctorCheck => {
        const name = "remote browser";
        if (one.state === "up")
          return { name, status: "ok", what: `${one.name}: Chromium ${one.version}, ${guarded}`, fix: null };
        const [what = "", ...fixes] = (one.problem?.message ?? "not connected").split("; ");
        const fix = fixes.length === 0 ? "start it, or correct APP_BROWSER_URL" : fixes.join("; ");
        return { name, status: "problem", what: `${one.name}: ${what}`, fix };
      }),
    ];
  } finally {
    await pool.close();
  }
}

/** Unreachable: the browser is only started and closed. */
const NO_PROXY = "http://127.0.0.1:9";

async function examineBrowser(config: Config): Promise<DoctorCheck> {
  const launcher = new Launcher({
    log: silentLog,
    userAgent: config.userAgent,
    proxyAddress: NO_PROXY,
    env: harmlessEnvironment(),
    ...(config.browserPath === null ? {} : { path: config.browserPath }),
  });
  try {
    const path = await launcher.find();
    const browser = await launcher.launch();
    const version = browser.version();
    await browser.close();
    const what = `Chromium ${version}, ${path}`;
    if (launcher.sandboxed) return { name: "browser", status: "ok", what: `${what}, in its sandbox`, fix: null };
    const fix = "for untrusted sites, run as an ordinary user";
    return { name: "browser", status: "warning", what: `${what}, without its sandbox`, fix };
  } catch (error) {
    const [what = ""] = messageOf(error)
      .replace("this page needs a browser, and ", "")
      .split(/; (?:correct it, or unset it and )?(?=run: )/);
    // Only pages that need a browser fail without one; a configured path that does not exist is a mistake.
    const status = isMissing(error) && config.browserPath !== null ? "problem" : "warning";
    return { name: "browser", status, what, fix: await remedyFor(error, config) };
  }
}

const isMissing = (error: unknown) => error instanceof FetchFailure && error.failure.reason === "browser_missing";

async function remedyFor(error: unknown, { browserPath }: Config): Promise<string> {
  if (isMissing(error) && browserPath !== null)
    return "correct or unset APP_BROWSER_PATH; if no browser is installed, run: orb doctor --fix";
  return isMissing(error)
    ? `run: orb doctor --fix, or manually: ${await installCommand()}`
    : "start it manually to see its error, or set APP_BROWSER_PATH to another browser";
}

/** Release date: no correct clock shows an earlier time. */
const WRITTEN = Date.parse("2026-01-01T00:00:00Z");

/** Schedules, certificates and retention depend on it. */
function examineClock(): DoctorCheck {
  const now = systemClock.now();
  const what = new Date(now).toISOString();
  if (now >= WRITTEN) return { name: "clock", status: "ok", what, fix: null };
  return { name: "clock", status: "problem", what: `${what} is in the past`, fix: "set the clock of this machine" };
}

async function examinePort(config: Config): Promise<DoctorCheck> {
  const name = "port";
  const address = `${config.port} on ${config.host}`;
  const who = await whoListens(config);
  if (who === null)
    return { name, status: "ok", what: config.port === 0 ? "any free port" : `${address} is free`, fix: null };
  if (who === "orb") return { name, status: "ok", what: `${address}: an Orbweaver answers`, fix: null };
  return {
    name,
    status: "warning",
    what: `${address} is in use by another program`,
    fix: "choose another with APP_PORT, or orb serve --port 0",
  };
}

function examineKey(config: Config): DoctorCheck {
  const name = "secret key";
  if (config.secretKey !== null) return { name, status: "ok", what: "APP_SECRET_KEY is set", fix: null };
  const path = secretKeyFile(config);
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined)
    return { name, status: "ok", what: `none yet; ${path} is created with the first session or credential`, fix: null };
  if (process.platform !== "win32" && (file.mode & 0o077) !== 0)
    return { name, status: "warning", what: `${path} can be read by others`, fix: `chmod 600 ${path}` };
  return { name, status: "ok", what: `${path}; store a copy separately from your backups`, fix: null };
}

/** What `orb up` would run: is it installed, and may it use its folder? */
function examineServices(config: Config): DoctorCheck[] {
  return (config.managedServices ?? []).map((name) => {
    try {
      return { name, status: "ok", what: SERVICES[name].require(serviceFolder(config, name)), fix: null };
    } catch (error) {
      const fix = isOrbError(error) ? (error.hint ?? null) : null;
      return { name, status: "problem", what: messageOf(error), fix };
    }
  });
}

async function examineHandlers(config: Config): Promise<DoctorCheck[]> {
  if (config.handlers === null) return [];
  const name = "handlers";
  try {
    const { handlers, steps, extractors } = await UserCode.describe(config.handlers, systemClock);
    const names = [
      ...handlers,
      ...steps.map(({ kind }) => `${kind} (step)`),
      ...extractors.map((one) => `${one.name} (extractor)`),
    ];
    return [{ name, status: "ok", what: `${config.handlers}: ${names.join(", ")}`, fix: null }];
  } catch (error) {
    return [{ name, status: "problem", what: messageOf(error), fix: "correct the module named in APP_HANDLERS" }];
  }
}
