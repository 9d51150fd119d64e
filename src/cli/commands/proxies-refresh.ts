import type { Command } from "commander";
import type { RefreshView } from "../../orchestrator/proxies/refresh.ts";
import { apiCommand, definedOnly, nextCommand, type UrlOption } from "../api/command.ts";
import type { CliContext, OpenApi } from "../context.ts";
import { EXIT, paint, printJson } from "../print/output.ts";
import { Picture } from "../print/picture.ts";
import { fit } from "../print/progress.ts";
import { stopRequest } from "../stop.ts";

const LOOK_MS = 300;

/** `orb proxies refresh`: checks which proxies are usable. */
export function addProxyRefreshCommand(proxies: Command, context: CliContext): void {
  apiCommand(proxies, "refresh", "check all proxies; if a check is already running, show that one")
    .option("--watch", "show progress until the check ends; exits 1 if some proxies could not be checked")
    .action((options: UrlOption & { watch?: boolean }) =>
      options.watch === true ? watch(context, options) : begin(context, options),
    );
}

const start = (api: OpenApi) => api.proxies.refresh();

async function begin(context: CliContext, options: UrlOption): Promise<void> {
  await context.withApi(definedOnly({ url: options.url }), async (api) => {
    const view = await start(api);
    if (context.json) return printJson(context.terminal, view);
    context.terminal.out(`${view.job_id} ${view.status}: ${view.message}\n`);
    const idle = api.here !== null && !(await api.here.engineRuns());
    const next = nextCommand("proxies refresh --watch", options);
    return context.terminal.err(
      idle
        ? `no worker is running: ${next} checks them now, orb serve or orb worker later\n`
        : `${next} shows the progress\n`,
    );
  });
}

async function watch(context: CliContext, options: UrlOption): Promise<void> {
  const { terminal, wiring } = context;
  let last: RefreshView | null = null;
  const picture = new Picture(terminal, terminal.live && !context.json, (spinner) =>
    fit(`${paint(terminal, "cyan", spinner)} ${last?.message ?? "starting"}`, terminal.columns ?? 80),
  );
  const say = { live: true, err: (text: string) => picture.note(text.trim()) };
  using stop = stopRequest(
    wiring,
    say,
    null,
    () => "stopped watching: the check continues if a worker runs",
    EXIT.interrupted,
  );
  try {
    await context.withApi({ ...definedOnly({ url: options.url }), log: (log) => picture.wrap(log) }, async (api) => {
      await api.here?.work({ onRole: () => {} });
      last = await start(api);
      while ((last.status === "dispatched" || last.status === "processing") && !stop.signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        last = await api.proxies.refreshed(last.job_id);
      }
      picture.done();
      if (stop.exitCode !== null) context.exitCode = stop.exitCode;
      else if (last.status === "failed") context.exitCode = EXIT.failed;
      if (context.json) printJson(terminal, last);
      else terminal.out(`${last.message}\n`);
    });
  } finally {
    picture.done();
  }
}
