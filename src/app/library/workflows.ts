/** Workflows in the library. */
import type { Client } from "../context.ts";
import type { TaskState } from "../../domain/run/states.ts";
import { MOST_STEPS } from "../../domain/workflow/definition.ts";
import type { SourceInput } from "../../orchestrator/jobs/input.ts";
import { runEnded, type Waiting } from "../../orchestrator/runs/ended.ts";
import {
  cancelWorkflow,
  changeMetadata,
  deleteWorkflow,
  pauseWorkflow,
  recoverWorkflow,
  resumeWorkflow,
  startWorkflow,
} from "../../orchestrator/workflows/control.ts";
import { createWorkflow, type WorkflowInput } from "../../orchestrator/workflows/create.ts";
import { allItems, type ItemView } from "../../orchestrator/workflows/items.ts";
import { listStepKinds } from "../../orchestrator/workflows/kinds.ts";
import { showProgress, type WorkflowProgress } from "../../orchestrator/workflows/progress.ts";
import { listEntries, listWorkflows, listWorkflowTasks, showWorkflow } from "../../orchestrator/workflows/read.ts";
import { type RerunInput, rerunWorkflow } from "../../orchestrator/workflows/rerun.ts";
import { pathsBelow } from "../../orchestrator/workflows/source.ts";
import {
  deleteTemplate,
  listTemplates,
  listTemplateVersions,
  putTemplate,
  showTemplate,
} from "../../orchestrator/workflows/templates.ts";
import { validateWorkflow } from "../../orchestrator/workflows/validate.ts";

export function workflowsOf(deps: Client) {
  const get = (id: string) => showWorkflow(deps, id);
  const reading = { ...deps, openArtifact: (hash: string) => deps.artifacts.open(hash) };
  return {
    /** All errors of a definition (or template) and its params, without starting anything. */
    validate: (source: SourceInput) => validateWorkflow(deps, source, pathsBelow("")),
    /** Committed when this resolves; starts unless `start` is false. */
    create: (workflow: WorkflowInput) => createWorkflow(deps, workflow),
    get,
    list: (filter: Parameters<typeof listWorkflows>[1]) => listWorkflows(deps, filter),
    progress: (id: string) => showProgress(deps, id),
    /** Resolves when it has ended; see its `status`. */
    wait: async (id: string, waiting: Waiting<WorkflowProgress> = {}) => {
      await runEnded(deps, id, () => showProgress(deps, id), waiting);
      return get(id);
    },
    /** Its steps, with their outputs. */
    tasks: (id: string, filter: { status?: TaskState } = {}) =>
      listWorkflowTasks(deps, id, { ...filter, limit: MOST_STEPS }),
    /** Entries of a step with `for_each`. */
    entries: (id: string, step: string, window: Parameters<typeof listEntries>[3]) =>
      listEntries(deps, id, step, window),
    /** Output items of a step. */
    items: (id: string, step: string): AsyncIterable<ItemView> => allItems(reading, id, step),
    start: (id: string) => startWorkflow(deps, id),
    pause: (id: string) => pauseWorkflow(deps, id),
    resume: (id: string) => resumeWorkflow(deps, id),
    cancel: (id: string) => cancelWorkflow(deps, id),
    recover: (id: string, options: Parameters<typeof recoverWorkflow>[2] = {}) => recoverWorkflow(deps, id, options),
    rerun: (id: string, change: RerunInput = {}) => rerunWorkflow(deps, id, change),
    changeMetadata: (id: string, change: Parameters<typeof changeMetadata>[2]) => changeMetadata(deps, id, change),
    /** With its steps, child runs and all their files. */
    delete: (id: string, options = { force: false }) => deleteWorkflow(deps, id, options),
    /** Step kinds, built-in and your own. */
    kinds: () => listStepKinds(deps),
    templates: {
      put: (name: string, definition: unknown) => putTemplate(deps, name, definition, (inner) => inner),
      get: (name: string, version?: number) => showTemplate(deps, name, version),
      list: () => listTemplates(deps),
      versions: (name: string) => listTemplateVersions(deps, name),
      delete: (name: string) => deleteTemplate(deps, name),
    },
  };
}
