import type { Command } from "commander";
import type { StepProgress, WorkflowProgress } from "../../../orchestrator/workflows/progress.ts";
import type { WorkflowView } from "../../../orchestrator/workflows/view.ts";
import { apiCommand, asUnchecked, definedOnly, fullId, nextCommand, type UrlOption } from "../../api/command.ts";
import { refusal } from "../../api/problem.ts";
import type { CliContext, OpenApi } from "../../context.ts";
import { EXIT, oneLine, paint, plural, printJson } from "../../print/output.ts";
import { stopRequest } from "../../stop.ts";
import { positiveInteger } from "../../values.ts";
import { WorkflowDisplay } from "../../workflow/workflow-display.ts";
import { follow, lookAt, WORKFLOW_OVER } from "../../workflow/workflow-follow.ts";
import {
  addParamOptions,
  bodyOf,
  withFileErrors,
  type ParamOptions,
  paramsOf,
  readSource,
  type SourceOptions,
} from "../../workflow/workflow-source.ts";
import { pause } from "../runs/job-run.ts";

/** `orb workflows run`, `create` and `watch`, and what continues one: `start`, `resume`, `recover`, `rerun`. */
export function addWorkflowRunCommands(workflows: Command, context: CliContext): void {
  const source = (name: string, description: string) =>
    addParamOptions(
      apiCommand(workflows, name, description).argument(
        "<file|template>",
        "definition file (YAML or JSON), - for standard input, or the name of a template",
      ),
    )
      .option("--name <name>", "name of this run (default: the name in the definition)")
      .option("--template-version <number>", "version of the template (default: the newest)", positiveInteger);

  source("run", "run a workflow and show its steps; Ctrl-C pauses it")
    .option("--detach", "start it, print its id and exit")
    .action((word: string, options: SourceOptions & { detach?: boolean }) =>
      begin(context, { ...options, wait: options.detach !== true }, (api) => create(context, api, word, options, true)),
    );

  source("create", "create a workflow without starting it; start it with orb workflows start").action(
    (word: string, options: SourceOptions) =>
      begin(context, { ...options, wait: false }, (api) => create(context, api, word, options, false)),
  );

  apiCommand(workflows, "watch", "show the steps of a workflow until it ends; Ctrl-C stops watching, not the workflow")
    .argument("<workflow_id>")
    .action((id: string, options: UrlOption) => watch(context, id, options));

  const steered = (name: string, description: string) =>
    apiCommand(workflows, name, description)
      .argument("<workflow_id>")
      .option("--wait", "wait until it ends; run it in this process if there is no worker");

  steered("start", "start a workflow that was created with orb workflows create").action(
    (id: string, options: Waiting) =>
      begin(context, options, async (api) => api.workflows.start(await fullId(api, "workflow", id))),
  );

  steered("resume", "continue a paused workflow").action((id: string, options: Waiting) =>
    begin(context, options, async (api) => api.workflows.resume(await fullId(api, "workflow", id)), id),
  );

  steered("recover", "repeat the steps of a failed workflow that did not complete; completed steps keep their results")
    .option("--from <step>", "repeat only this step and the steps that depend on it")
    .action((id: string, options: Waiting & { from?: string }) =>
      begin(
        context,
        options,
        async (api) =>
          api.workflows.recover(await fullId(api, "workflow", id), definedOnly({ from_step: options.from })),
        id,
      ),
    );

  addParamOptions(steered("rerun", "start a new run of the same workflow, optionally with other params")).action(
    (id: string, options: Waiting & ParamOptions) => begin(context, options, (api) => rerun(context, api, id, options)),
  );
}

interface Waiting extends UrlOption {
  wait?: boolean;
}

async function create(
  { wiring }: CliContext,
  api: OpenApi,
  word: string,
  options: SourceOptions,
  start: boolean,
): Promise<WorkflowView> {
  const source = await readSource(wiring, word);
  const body = { ...(await bodyOf(wiring, api, source, options)), start };
  return withFileErrors(source, options, () => api.workflows.create(asUnchecked(body)));
}

async function rerun({ wiring }: CliContext, api: OpenApi, id: string, options: ParamOptions): Promise<WorkflowView> {
  const flow = await fullId(api, "workflow", id);
  const { definition } = await api.workflows.get(flow);
  const params = await paramsOf(wiring, {}, options, definition["params"] ?? null);
  return api.workflows.rerun(flow, asUnchecked(definedOnly({ params: params ?? undefined })));
}

type Go = (api: OpenApi) => Promise<WorkflowView>;

/** Starts a workflow, and follows it with `--wait`; `known`: its state before, if it ran before. */
async function begin(context: CliContext, options: Waiting, go: Go, known?: string): Promise<void> {
  const { terminal } = context;
  if (options.wait === true) return followToEnd(context, options, go, known);
  return context.withApi(definedOnly({ url: options.url }), async (api) => {
    const workflow = await go(api);
    if (context.json) printJson(terminal, workflow);
    else terminal.out(`${workflow.id} ${workflow.status}\n`);
    if (workflow.status === "pending")
      terminal.err(`${nextCommand(`workflows start ${workflow.id}`, options)} starts it\n`);
    else if (api.here !== null && !(await api.here.engineRuns()))
      terminal.err(`${NOBODY}, or run orb workflows resume ${workflow.id} --wait\n`);
    else if (!context.json)
      terminal.err(`${nextCommand(`workflows watch ${workflow.id}`, options)} shows its progress\n`);
  });
}

const NOBODY = "no worker is running on this database; start orb worker or orb serve";

/** Follows it to its end; runs the work here if no worker does. */
async function followToEnd(context: CliContext, options: Waiting, go: Go, known?: string): Promise<void> {
  const { terminal, wiring } = context;
  const display = displayFor(context, options);
  const say = { live: true, err: (text: string) => display.note(text.trim()) };
  let resumeHint = "";
  const note = () => `${stoppingWords(display.view, options)}; press Ctrl-C again to exit at once${resumeHint}`;
  using stop = stopRequest(wiring, say, null, note, EXIT.partial);
  try {
    await context.withApi({ ...definedOnly({ url: options.url }), log: (log) => display.wrap(log) }, async (api) => {
      const worker = await api.here?.work({ onRole: () => {} });
      if (known !== undefined) display.was(await lookAt(api, await fullId(api, "workflow", known)));
      const { id } = await go(api);
      const resume = nextCommand(`workflows resume ${id} --wait${context.json ? " --json" : ""}`, options);
      // Printed on the first Ctrl-C, so that it is on the screen whatever happens next.
      resumeHint = `; to continue:\n  ${resume}`;
      let view = await follow({ api, id, display, signal: stop.signal, wait: pause(stop.signal) });
      if (!WORKFLOW_OVER.has(view.status)) {
        view = await halt(api, id, display);
        worker?.hurry();
      }
      display.done();
      if (WORKFLOW_OVER.has(view.status)) return conclude(context, api, view, options);
      context.exitCode = EXIT.partial;
      if (context.json) return printJson(terminal, { ...view, resume });
      return terminal.err(`stopped, the workflow is ${view.status}; to continue:\n  ${resume}\n`);
    });
  } finally {
    display.done();
  }
}

function displayFor({ terminal, wiring, json }: CliContext, options: UrlOption): WorkflowDisplay {
  return new WorkflowDisplay(terminal, wiring.now, json ? "silent" : terminal.live ? "live" : "plain", options);
}

/** Running, and neither sleeping nor waiting for a child run. */
const isAtWork = ({ status, waiting_for: why }: StepProgress) => status === "running" && why === null;

/** What happens after Ctrl-C. */
function stoppingWords(view: WorkflowProgress | null, { url }: UrlOption): string {
  if (url !== undefined) return "stopping: the workflow is paused; the server finishes running steps";
  const names = view?.steps.filter(isAtWork).map(({ task_name: name }) => oneLine(name)) ?? [];
  if (names.length === 0) return "stopping: the workflow is paused; no step is running";
  const what = names.length > MOST_FAILURES ? plural(names.length, "step") : names.join(", ");
  return `stopping: the workflow is paused; waiting up to ${FINISH_MS / 1000} s for ${what} to finish`;
}

/** Steps that take longer are dropped and started again when the workflow continues. */
const FINISH_MS = 5000;

/** Another process would continue it, but Ctrl-C means stop. */
async function halt(api: OpenApi, id: string, display: WorkflowDisplay): Promise<WorkflowProgress> {
  try {
    await api.workflows.pause(id);
  } catch (error) {
    // It has just ended or is about to be recovered: its state is printed.
    if (refusal(error, "illegal_transition") === null) throw error;
  }
  const began = performance.now();
  for (;;) {
    const view = await lookAt(api, id);
    display.show(view);
    const isDone = !view.steps.some(isAtWork) || WORKFLOW_OVER.has(view.status) || api.here === null;
    if (isDone || performance.now() - began > FINISH_MS) return view;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function watch(context: CliContext, named: string, options: UrlOption): Promise<void> {
  const { terminal, wiring } = context;
  const display = displayFor(context, options);
  const say = { live: true, err: (text: string) => display.note(text.trim()) };
  using stop = stopRequest(wiring, say, null, "stopped watching; the workflow is not stopped");
  try {
    await context.withApi({ ...definedOnly({ url: options.url }), log: (log) => display.wrap(log) }, async (api) => {
      const id = await fullId(api, "workflow", named);
      const first = await lookAt(api, id);
      const { status } = first;
      display.was(first);
      if (status === "pending")
        display.note(`the workflow is not started; start it with: ${nextCommand(`workflows start ${id}`, options)}`);
      else if (status === "paused")
        display.note(`the workflow is paused; continue it with: ${nextCommand(`workflows resume ${id}`, options)}`);
      else if (!WORKFLOW_OVER.has(status) && api.here !== null && !(await api.here.engineRuns()))
        display.note(`${NOBODY}, or run orb workflows resume ${id} --wait`);
      const view = await follow({ api, id, display, signal: stop.signal, wait: pause(stop.signal) });
      display.done();
      if (WORKFLOW_OVER.has(view.status)) return conclude(context, api, view, options);
      context.exitCode = stop.exitCode ?? EXIT.partial;
      if (context.json) printJson(terminal, view);
      return undefined;
    });
  } finally {
    display.done();
  }
}

async function conclude(context: CliContext, api: OpenApi, view: WorkflowProgress, options: UrlOption): Promise<void> {
  const { terminal } = context;
  const { workflow_id: id, status } = view;
  context.exitCode = status === "completed" ? EXIT.done : EXIT.failed;
  if (context.json) return printJson(terminal, view);
  const bad = view.steps.filter((step) => step.status === "failed");
  for (const step of bad.slice(0, MOST_FAILURES))
    terminal.err(
      `${paint(terminal, "red", "failed:")} ${oneLine(`${step.task_name}: ${step.error_message ?? "no reason given"} (${step.failure_reason ?? "unknown"})`)}\n`,
    );
  if (bad.length > MOST_FAILURES)
    terminal.err(
      `and ${bad.length - MOST_FAILURES} more: ${nextCommand(`workflows tasks ${id} --status failed`, options)}\n`,
    );
  terminal.out(`${id} ${status}\n`);
  if (status === "cancelled") return terminal.err("the workflow was cancelled\n");
  if (status === "completed") return listFiles(context, api, id, options);
  return terminal.err(`${nextSteps(view, bad, options)}\n`);
}

/** How to continue after a failure. */
function nextSteps(view: WorkflowProgress, bad: readonly StepProgress[], options: UrlOption): string {
  const { workflow_id: id, max_recovery_attempts: most, recovery_attempts: spent } = view;
  // Recovery would fail the same way: the input of a run never changes.
  if (bad.length > 0 && bad.every(({ failure_reason: reason }) => reason === "step_params"))
    return `a recovery would fail again with the same params: correct the definition and run it again, or use other params:\n  ${nextCommand(`workflows rerun ${id} --param NAME=VALUE --wait`, options)}`;
  const left = plural(most - spent, "recovery", "recoveries");
  return spent < most
    ? `${nextCommand(`workflows recover ${id} --wait`, options)} repeats the steps that did not complete (${left} left)`
    : `all recoveries are used; ${nextCommand(`workflows rerun ${id} --wait`, options)} starts a new run`;
}

const MOST_FAILURES = 5;

/** Prints where its results are. */
async function listFiles({ terminal }: CliContext, api: OpenApi, id: string, options: UrlOption): Promise<void> {
  const tasks = await api.workflows.tasks(id).take();
  const files = tasks.flatMap(({ artifacts }) => artifacts.filter(({ role }) => role !== "items")).length;
  if (files > 0) terminal.err(`${plural(files, "file")}: ${nextCommand(`workflows files ${id}`, options)}\n`);
  else terminal.err(`${nextCommand(`workflows tasks ${id}`, options)} shows the output of each step\n`);
}
