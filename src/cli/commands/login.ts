import type { Command } from "commander";
import { isOrbweaverError } from "../../api-client/client.ts";
import { sleep, systemClock } from "../../base/clock.ts";
import { isOrbError, OrbError } from "../../base/errors.ts";
import { urlOf } from "../../base/server-url.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { rowsOf } from "../api/rows.ts";
import { apiCommand, asUnchecked, definedOnly, type UrlOption } from "../api/command.ts";
import type { CliContext, OpenApi } from "../context.ts";
import { remedyOf } from "../print/failure-report.ts";
import { show, stateOf } from "./sessions.ts";

interface LoginOptions extends UrlOption {
  name?: string;
  checkUrl?: string;
  live?: boolean;
  mobile?: boolean;
}

/** `orb login`: the user signs in in a browser, and the session is stored. */
export function addLoginCommand(program: Command, context: CliContext): void {
  apiCommand(program, "login", "sign in manually in a browser window, and store the session for the page's origin")
    .argument("<page>", "URL of the sign-in page, such as https://example.com/login")
    .option("--name <name>", "name of the session")
    .option("--check-url <url>", "a page that requires the sign-in, for orb sessions check")
    .option("--live", "sign in from your own browser, in the dashboard of a server (--url, or the one of this machine)")
    .option("--mobile", "with --live: emulate a phone")
    .action((page: string, options: LoginOptions) => {
      const target = readPage(page);
      return options.live === true ? loginLive(context, target, options) : login(context, target, options);
    });
}

function readPage(page: string): URL {
  const target = URL.parse(page);
  if (target !== null && /^https?:$/.test(target.protocol)) return target;
  const message = "expected the URL of a page, such as https://example.com/login";
  throw new OrbError("input_invalid", `page: ${message}`, { fields: [{ path: "page", message }] });
}

const LOOK_MS = 1000;

/** A server opens the page, and the dashboard shows it; this command waits for the session. */
async function loginLive(context: CliContext, target: URL, options: LoginOptions): Promise<void> {
  const { wiring, terminal } = context;
  const { config } = wiring.loadConfig();
  const server = options.url ?? urlOf(config.host === "0.0.0.0" ? "127.0.0.1" : config.host, config.port);
  await context.withApi({ url: server }, async (api) => {
    const view = await api.liveViews.open(
      asUnchecked(
        definedOnly({ url: target.href, name: options.name, check_url: options.checkUrl, mobile: options.mobile }),
      ),
    );
    const shown = options.url ?? config.publicUrl ?? server;
    const address = `${shown.replace(/\/$/, "")}/live-views/${view.id}`;
    terminal.err(`Open this address, sign in, and choose Save session:\n  ${address}\n`);
    await wiring.showPage(address, { always: false });
    const session = await sessionFrom(api, view);
    if (session === null)
      throw new OrbError("input_invalid", "the live view was closed, and no session was stored", {
        hint: "Run the command again, and choose Save session after the sign-in.",
      });
    show(context, session);
    if (!context.json) terminal.err(`use it with --session ${session.name ?? session.id}\n`);
  });
}

/** Waits until the view has ended; null: nothing was stored. */
async function sessionFrom(api: OpenApi, view: { id: string; origin: string; opened_at: string }) {
  for (;;) {
    await sleep(systemClock, LOOK_MS);
    try {
      await api.liveViews.get(view.id);
    } catch (error) {
      if (!isOrbweaverError(error, "not_found")) throw error;
      const { rows } = await rowsOf({ limit: 1 }, (limit) => api.sessions.list({ origin: view.origin, limit }));
      const [newest] = rows;
      return newest !== undefined && newest.created_at >= view.opened_at ? newest : null;
    }
  }
}

async function login(context: CliContext, target: URL, options: LoginOptions): Promise<void> {
  const { wiring, terminal } = context;
  await context.withApi(definedOnly({ url: options.url }), async (api) => {
    const enter = async () => {
      await wiring.prompt.line("Sign in with the browser window, then press Enter here: ");
    };
    const state = wiring.prompt.available
      ? await wiring.login(api.config, api.log, target.href, enter).catch(rethrow)
      : null;
    if (state === null) throw withoutDisplay(target, wiring.prompt.available);
    if (state.cookies.length === 0 && state.origins.length === 0)
      throw new OrbError(
        "input_invalid",
        `the browser has no cookies or storage for ${target.origin}: you are not signed in`,
        {
          hint: "Finish the sign-in in the window before you press Enter.",
        },
      );
    const body = definedOnly({
      origin: target.origin,
      name: options.name,
      check_url: options.checkUrl,
      storage_state: stateOf({ ...state }),
    });
    const session = await api.sessions.create(asUnchecked(body));
    show(context, session);
    if (!context.json) terminal.err(`use it with --session ${session.name ?? session.id}\n`);
  });
}

/** How to create a session without a display, as commands to type. */
function withoutDisplay({ origin, href }: URL, hasTerminal: boolean): OrbError {
  const why = hasTerminal ? "there is no display to open a browser" : "there is no terminal for the prompt";
  return new OrbError("usage", why, {
    hint: [
      "Sign in from your own browser, through the dashboard of orb serve:",
      `  orb login ${href} --live`,
      "Or sign in with a browser on another machine and store its session:",
      `  orb sessions add --origin ${origin} --storage-state FILE    (Playwright's storageState)`,
      `  orb sessions add --origin ${origin} --cookies FILE          (JSON, cookies.txt, or a Cookie header)`,
      `  orb sessions add --origin ${origin} --cookie name=value     (from the developer tools)`,
      `  orb sessions add --origin ${origin} --header 'Name: value'`,
      `  orb sessions add --origin ${origin} --basic USER            (prompts for the password)`,
    ].join("\n"),
  });
}

/** Turns a browser's navigation failure into an error of the product. */
export function rethrow(error: unknown): never {
  if (isOrbError(error) || !(error instanceof FetchFailure)) throw error;
  const { code, reason, message } = error.failure;
  const hint = remedyOf({ failure_code: code, failure_reason: reason, resolved_strategy: "browser" });
  throw new OrbError(code === "forbidden_target" ? "forbidden_target" : "fetch_failed", `${reason}: ${message}`, {
    cause: error,
    ...(hint === null ? {} : { hint }),
  });
}
