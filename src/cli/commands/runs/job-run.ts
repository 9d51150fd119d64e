import { describeChanges, type MonitorCounts } from "../../../domain/monitor/monitored-page.ts";
import { isHeld } from "../../../domain/run/waiting.ts";
import type { EventView, RunView } from "../../../orchestrator/runs/view.ts";
import { runEvents } from "../../api/events.ts";
import { fullId, definedOnly, nextCommand, type UrlOption } from "../../api/command.ts";
import type { CliContext, OpenApi } from "../../context.ts";
import { reportFailure } from "../../print/failure-report.ts";
import { EXIT, oneLine, paint, printJson, type Terminal } from "../../print/output.ts";
import { RunLine } from "../../print/run-line.ts";
import { stopRequest } from "../../stop.ts";

/** Starts a run; with `--wait` follows it to its end. */
export async function runJob(
  context: CliContext,
  jobId: string,
  options: UrlOption & { wait?: boolean },
): Promise<void> {
  const { terminal, wiring } = context;
  if (options.wait !== true)
    return context.withApi(definedOnly({ url: options.url }), async (api) => {
      const run = await api.jobs.run(await fullId(api, "job", jobId));
      if (context.json) printJson(terminal, run);
      else terminal.out(`${run.id}\n`);
      if (api.here !== null && !(await api.here.engineRuns()))
        terminal.err("no worker is running on this database; start orb worker or orb serve, or use --wait\n");
      else if (!context.json)
        terminal.err(`${nextCommand(`runs events ${run.id} --follow`, options)} shows its progress\n`);
    });
  const line = new RunLine(terminal, wiring.now, terminal.live && !context.json);
  using stop = stopRequest(wiring, terminal, null, "stopped waiting; the run is not cancelled");
  try {
    await context.withApi({ ...definedOnly({ url: options.url }), log: (log) => line.wrap(log) }, async (api) => {
      await api.here?.work({ onRole: () => {} });
      const job = await fullId(api, "job", jobId);
      const { monitor } = await api.jobs.get(job);
      const { id } = await api.jobs.run(job);
      const ended = await waitFor(context, api, id, { line, signal: stop.signal });
      const run = monitor === null ? ended : await compared(api, ended, stop.signal);
      line.done();
      conclude(context, run, options);
      if (run.monitor !== null && !context.json)
        terminal.err(`${changesIn(run.monitor)}: ${nextCommand(`jobs changes ${job}`, options)}\n`);
    });
  } finally {
    line.done();
  }
}

const COMPARED_WITHIN_MS = 20_000;
const LOOK_AT_COMPARISON_MS = 200;

/** The run once its pages are compared with the last good ones, shortly after its end. */
async function compared(api: OpenApi, run: RunView, signal: AbortSignal): Promise<RunView> {
  let last = run;
  for (let waited = 0; waited < COMPARED_WITHIN_MS && !signal.aborted; waited += LOOK_AT_COMPARISON_MS) {
    if (last.monitor !== null || (last.status !== "completed" && last.status !== "partial")) return last;
    await pause(signal)(LOOK_AT_COMPARISON_MS);
    last = await api.runs.get(run.id);
  }
  return last;
}

function changesIn(counts: MonitorCounts): string {
  const words = describeChanges(counts);
  return words === "" ? "no changes" : `changes: ${words}`;
}

/** Prints events until the run has ended or waits for a person, or `signal` aborts. */
async function waitFor(
  context: CliContext,
  api: OpenApi,
  id: string,
  { line, signal }: { line: RunLine; signal: AbortSignal },
): Promise<RunView> {
  const { terminal } = context;
  const look = () => api.runs.get(id);
  const enough = new AbortController();
  const until = AbortSignal.any([signal, enough.signal]);
  const over = new AbortController();
  const waits = showWaits(api, id, AbortSignal.any([until, over.signal]), (words) => {
    line.event(words);
    if (!terminal.live && !context.json) terminal.err(`waits: ${oneLine(words)}\n`);
  });
  try {
    for await (const event of runEvents(api, id, until)) {
      line.event(event.message);
      if (!terminal.live && !context.json) terminal.err(eventLine(terminal, event));
      // That may take days: end the command, so that this user can answer.
      if (event.level === "warn" && (await look()).status === "waiting_for_human") enough.abort();
    }
  } finally {
    over.abort();
    await waits;
  }
  return look();
}

const LOOK_AT_WAITS_MS = 2000;

/** Prints what the run waits for whenever that changes: no event does. */
async function showWaits(api: OpenApi, id: string, over: AbortSignal, say: (words: string) => void): Promise<void> {
  let last: string | null = null;
  for (;;) {
    await pause(over)(LOOK_AT_WAITS_MS);
    if (over.aborted) return;
    // The event stream detects a lost server.
    const run = await api.runs.get(id).catch(() => null);
    const waits = run?.waiting_for ?? null;
    const words = isHeld(waits) ? (waits?.message ?? null) : null;
    if (words !== null && words !== last && !over.aborted) say(words);
    last = words ?? last;
  }
}

export function pause(signal: AbortSignal): (ms: number) => Promise<void> {
  return (ms) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      signal.addEventListener(
        "abort",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
}

const COLOURS = { info: "gray", warn: "yellow", error: "red" } as const;

export function eventLine(terminal: Terminal, { created_at: at, level, message }: EventView): string {
  return `${paint(terminal, "gray", at.slice(11, 19))} ${paint(terminal, COLOURS[level], level.padEnd(5))} ${oneLine(message)}\n`;
}

const EXITS: Partial<Record<RunView["status"], number>> = {
  completed: EXIT.done,
  failed: EXIT.failed,
  cancelled: EXIT.failed,
};

function conclude(context: CliContext, run: RunView, options: UrlOption): void {
  const { terminal } = context;
  context.exitCode = EXITS[run.status] ?? EXIT.partial;
  if (context.json) return printJson(terminal, run);
  if (run.status === "failed") reportFailure(terminal, run);
  terminal.out(`${run.id} ${run.status}\n`);
  for (const { message } of run.warnings)
    terminal.err(`${paint(terminal, "yellow", "warning:")} ${oneLine(message)}\n`);
  return terminal.err(`${nextStep(run, options)}\n`);
}

function nextStep({ id, status, job_id, failure_reason }: RunView, options: UrlOption): string {
  const runs = (words: string) => nextCommand(`runs ${words}`, options);
  if (status === "completed") return `${runs(`results ${id}`)} shows the results`;
  if (status === "partial") return `${runs(`results ${id}`)} shows the results, ${runs(`errors ${id}`)} what failed`;
  if (failure_reason === "records_degraded")
    return `${runs(`results ${id}`)} shows the records, ${nextCommand(`jobs health ${job_id}`, options)} what is worse about them`;
  if (status === "failed") return `${runs(`events ${id}`)} shows its log, ${runs(`retry-failed ${id}`)} retries it`;
  if (status === "cancelled") return "the run was cancelled";
  if (status === "waiting_for_human")
    return `the run waits for a person: ${runs(`resolve ${id} --session ID`)}, or --skip`;
  return `the run has not ended: follow it with ${runs(`events ${id} --follow`)}; if there is no worker, start orb worker`;
}
