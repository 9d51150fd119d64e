import type { Command } from "commander";
import { standsBy } from "../../orchestrator/workers/worker-availability.ts";
import type { WorkerView } from "../../orchestrator/workers/workers.ts";
import { apiCommand, definedOnly, fullId, idOf, timeCell, type UrlOption } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { EXIT, facts, listTable, printJson } from "../print/output.ts";

/** `orb workers …`: the processes that do the work. */
export function addWorkersCommands(program: Command, context: CliContext): void {
  const { terminal } = context;
  const workers = program.command("workers").description("worker processes and their tasks");
  const about = (command: Command) => command.argument("<worker_id>");

  apiCommand(workers, "list", "workers, newest first", { isDefault: true })
    .option("--all", "also those that stopped in the last day")
    .action(({ all, url }: UrlOption & { all?: boolean }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const rows = await api.workers.list({ all });
        if (context.json) return printJson(terminal, rows);
        const server = await api.server.health();
        return terminal.out(rows.length === 0 ? "no workers\n" : workerTable(context, rows, server));
      }),
    );

  about(apiCommand(workers, "show", "one worker, with its tasks")).action((id: string, options: UrlOption) =>
    context.withApi(options, async (api) => {
      show(context, await api.workers.get(idOf(id, "worker")));
    }),
  );

  for (const [name, description] of [
    ["drain", "let a worker finish its tasks and accept no new ones; a standby takes over"],
    ["resume", "let a drained worker accept tasks again"],
  ] as const)
    about(apiCommand(workers, name, description)).action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const worker = await api.workers[name](idOf(id, "worker"));
        if (context.json) return printJson(terminal, worker);
        return terminal.out(
          name === "drain"
            ? "it finishes its tasks and accepts no new ones; orb workers shows when it is drained\n"
            : "it accepts tasks again\n",
        );
      }),
    );

  about(
    apiCommand(workers, "ping", "check whether a worker answers; exits 1 if it does not within five seconds"),
  ).action((id: string, options: UrlOption) =>
    context.withApi(options, async (api) => {
      const ping = await api.workers.ping(idOf(id, "worker"));
      if (!ping.answered) context.exitCode = EXIT.failed;
      if (context.json) return printJson(terminal, ping);
      return terminal.out(
        ping.answered ? `answered after ${ping.latency_ms} ms\n` : `no answer within ${ping.latency_ms} ms\n`,
      );
    }),
  );

  apiCommand(workers, "stop-task", "stop a task without a result; the rest of its run continues")
    .argument("<run_id>")
    .argument("<task_id>")
    .action((run: string, task: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const stopped = await api.runs.stopTask(await fullId(api, "run", run), idOf(task, "task", `runs tasks ${run}`));
        if (context.json) return printJson(terminal, stopped);
        return terminal.out(
          stopped.state === "running" ? "its worker was asked to stop it\n" : "the task is stopped\n",
        );
      }),
    );
}

type Means = Pick<WorkerView, "engine" | "database">;

const meansOf = ({ engine, database }: Means) => `${engine}, ${database}`;

/** Hides storage columns when all workers share the server's storage. */
function workerTable({ terminal, wiring }: CliContext, rows: readonly WorkerView[], server: Means): string {
  const differ = rows.some((row) => meansOf(row) !== meansOf(server));
  return listTable(
    [
      "id",
      "state",
      "role",
      "command",
      ...(differ ? ["engine"] : []),
      "in flight",
      "per second",
      "MB",
      "heartbeat",
      "process",
    ],
    rows.map((row) => [
      row.id,
      stateWords(row),
      row.state === "drained" ? "" : row.role,
      row.command,
      ...(differ ? [meansOf(row)] : []),
      row.in_flight,
      row.throughput,
      megabytes(row),
      timeCell(row.heartbeat, wiring.now(), terminal.columns),
      `${row.pid} on ${row.machine}`,
    ]),
    terminal.columns,
  );
}

function stateWords(worker: WorkerView): string {
  const { state, paused, drain_asked: drain } = worker;
  if (state !== "working") return state;
  const now = standsBy(worker) ? "stands by" : paused === null ? state : "paused";
  return `${now}${drain ? ", draining" : ""}`;
}

function megabytes({ memory }: WorkerView): number {
  return Math.round(memory / 1024 / 1024);
}

function show(context: CliContext, worker: WorkerView): void {
  const { terminal } = context;
  if (context.json) return printJson(terminal, worker);
  terminal.out(
    facts(
      [
        ["id", worker.id],
        ["state", stateWords(worker)],
        ["role", worker.role],
        ["engine", meansOf(worker)],
        ["process", `${worker.pid} on ${worker.machine} (orb ${worker.command}, ${worker.version})`],
        ["heartbeat", worker.heartbeat],
        ["started", worker.started_at],
        ["stopped", worker.stopped_at],
        ["in flight", `${worker.in_flight} of ${worker.max_workers}`],
        ["throughput", `${worker.throughput} a second; ${worker.completed} completed, ${worker.failed} failed`],
        ["memory", `${megabytes(worker)} MB`],
        ["paused", worker.paused],
      ],
      terminal.columns,
    ),
  );
  if (worker.browsers.length > 0) {
    const rows = worker.browsers.map((one) => [
      one.name,
      one.state,
      `${one.pages} of ${one.max_pages}`,
      one.problem ?? "–",
    ]);
    terminal.out(`\n${listTable(["browser", "state", "pages", "problem"], rows, terminal.columns)}`);
  }
  if (worker.active.length === 0) return;
  const lines = worker.active.map((task) => [
    task.task_id,
    task.run_id,
    timeCell(task.started_at, context.wiring.now(), terminal.columns),
    task.url ?? task.lane,
  ]);
  terminal.out(`\n${listTable(["task", "run", "since", "what"], lines, terminal.columns)}`);
}
