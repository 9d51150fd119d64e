/** Failed pages: why, and the stored evidence. */
import type { OrbweaverClient, Row } from "../api-client/client.ts";
import { adviceFor } from "./advice.ts";
import { short } from "./bounds.ts";
import { artifactUri } from "./uris.ts";

type Task = Row<"get /jobs/runs/{run_id}/tasks">;

interface FailureView extends Record<string, unknown> {
  url: string | null;
  failure_code: string;
  failure_reason: string;
  message: string | null;
  attempts: number;
  files: { role: string; uri: string }[];
}

export function failureView(task: Task): FailureView {
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

export async function firstFailure(api: OrbweaverClient, runId: string): Promise<FailureView | null> {
  const [task] = await api.runs.tasks(runId, { status: "failed", limit: 1 }).take(1);
  return task === undefined ? null : failureView(task);
}
