import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { demoHead, demoWords, type DemoSummary } from "../demo/demo-words.ts";
import { runTour } from "../demo/demo-tour.ts";
import { EXIT, paint, printJson } from "../print/output.ts";
import { stopRequest } from "../stop.ts";

interface DemoOptions {
  open?: boolean;
  keep?: boolean;
  exit?: boolean;
}

/** `orb demo`: shows the product on a bundled site. */
export function addDemoCommand(program: Command, context: CliContext): void {
  program
    .command("demo")
    .description("offline demo: crawls a bundled shop and opens the dashboard")
    .option("--open", "open the dashboard in a browser (default: on a terminal with a desktop)")
    .option("--no-open", "only print its URL")
    .option("--keep", "keep the demo data in the folder demo of the data directory until the next demo")
    .option("--exit", "exit after the demo instead of waiting for Ctrl-C")
    .action((options: DemoOptions) => demo(context, options));
}

async function demo(context: CliContext, options: DemoOptions): Promise<void> {
  const { wiring, terminal } = context;
  const { config, warnings } = wiring.loadConfig();
  for (const warning of warnings) terminal.err(`${warning}\n`);
  using stop = stopRequest(wiring, terminal, null, "stopping the demo");
  // Failures are part of the demo: only unexpected errors are logged.
  const log = wiring.createLog({ ...config, logLevel: "error" });
  const started = await wiring.startDemo(config, log, { keep: options.keep === true });
  const remote = (await import("../api/remote.ts")).openRemote(started.url, null);
  const say = (text: string) => {
    if (!context.json) terminal.err(text);
  };
  let summary: DemoSummary | null = null;
  try {
    summary = await runTour({ context, api: remote.client, demo: started, signal: stop.signal, say, head: demoHead });
    if (summary !== null) {
      if (context.json) printJson(terminal, summary);
      else terminal.out(demoWords(terminal, summary));
    }
    if (summary !== null && options.exit !== true && !stop.signal.aborted) {
      const shown = options.open !== false && (await wiring.showPage(started.url, { always: options.open === true }));
      say(
        `\n${shown ? "The dashboard is open in your browser" : "Open the dashboard"}: ${paint(terminal, "cyan", started.url)}\n` +
          "Press Ctrl-C to end the demo.\n",
      );
      await stop.asked;
    }
  } finally {
    await remote.close();
    await started.stop();
  }
  // After the tour, Ctrl-C is the normal end.
  context.exitCode = summary === null ? (stop.exitCode ?? EXIT.failed) : summary.ok ? EXIT.done : EXIT.failed;
  if (options.keep === true) say(`demo data kept in ${started.folder}\n`);
}
