/** Pages that failed: why, and the files that were kept to show it. */
import type { ApiCaller } from "../cli/api/caller.ts";
import type { TaskView } from "../orchestrator/runs/view.ts";
import { short } from "./bounds.ts";
import { adviceFor } from "./advice.ts";
import { artifactUri } from "./uris.ts";

export interface FailureView extends Record<string, unknown> {
  url: string | null;
  failure_code: string;
  failure_reason: string;
  message: string | null;
  attempts: number;
  files: { role: string; uri: string }[];
}

export function failureView(task: TaskView): FailureView {
  return {
    url: short(task.url, 1000),
    failure_code: task.failure_code ?? "unknown",
    failure_reason: task.failure_reason ?? "internal",
    message: short(task.error_message),
    attempts: task.attempts.length,
    advice: adviceFor(task.failure_code, task.failure_reason),
    files: task.artifacts.slice(0, 5).map(({ id, role }) => ({ role, uri: artifactUri(id) })),
  };
}

export async function failuresOf(api: ApiCaller, runId: string, limit: number): Promise<{ rows: FailureView[] }> {
  const answer = await api.request("GET", `/jobs/runs/${runId}/tasks`, { query: { status: "failed", limit } });
  return { rows: (await answer.json<TaskView[]>()).map(failureView) };
}
