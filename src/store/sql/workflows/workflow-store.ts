import type { WorkflowStore } from "../../ports/workflow-port.ts";
import type { Context } from "../kernel/context.ts";
import { deleteRun } from "../runs/hide-runs.ts";
import { startWorkflow } from "./insert-workflow.ts";
import { addStepItems, noteStepProgress, skipStepItems } from "./step-owner.ts";
import { lastItems, stepDurations } from "./run-history.ts";
import { changeMetadata, readSnapshot, readWorkflow, readWorkflows } from "./workflow-reads.ts";
import { recoverWorkflow, takeUpRecoveries } from "./workflow-recover.ts";
import { readChildRuns, readStepByEngineId, readStepItems, readSteps } from "./step-reads.ts";
import { passStepTime, readTimeLeft } from "./step-time.ts";
import { deleteTemplate, putTemplate, readTemplate, readTemplates, readTemplateVersions } from "./templates.ts";

export function workflowStore(context: Context): WorkflowStore {
  return {
    startWorkflow: async (id, now) => startWorkflow(context, id, now),
    workflow: async (id) => readWorkflow(context, id),
    workflowSnapshot: async (id) => readSnapshot(context, id),
    workflows: async (filter) => readWorkflows(context, filter),
    steps: async (runId, indices) => readSteps(context, runId, indices),
    stepsInBrief: async (runId) => readSteps(context, runId, undefined, "without results"),
    stepItems: async (runId, step, options) => readStepItems(context, runId, step, options),
    childRuns: async (taskId) => readChildRuns(context, taskId),
    stepByEngineId: async (engineId) => readStepByEngineId(context, engineId),
    changeMetadata: async (id, change, now) => changeMetadata(context, id, change, now),
    recoverWorkflow: async (id, from, now) => recoverWorkflow(context, id, from, now),
    takeUpRecoveries: async (limit, now) => takeUpRecoveries(context, limit, now),
    deleteWorkflow: async (id, now) => deleteRun(context, id, now, { kind: "workflow" }),
    passStepTime: async (elapsedMs, now) => passStepTime(context, elapsedMs, now),
    stepTimeLeft: async (taskId, now) => readTimeLeft(context, taskId, now),
    addStepItems: async (hold, task, part, now) => addStepItems(context, hold, task, part, now),
    skipStepItems: async (hold, task, limit, why, now) => skipStepItems(context, hold, task, limit, why, now),
    noteStepProgress: async (hold, task, progress, now) => noteStepProgress(context, hold, task, progress, now),
    stepDurations: async (of, limit) => stepDurations(context, of, limit),
    lastItems: async (runId, step) => lastItems(context, runId, step),
    deleteTemplate: async (name) => deleteTemplate(context, name),
    putTemplate: async (name, definition, first, now, version) =>
      putTemplate(context, name, definition, first, now, version),
    template: async (name, version) => readTemplate(context, name, version),
    templates: async () => readTemplates(context),
    templateVersions: async (name) => readTemplateVersions(context, name),
  };
}
