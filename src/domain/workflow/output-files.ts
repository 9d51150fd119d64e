import type { JsonValue } from "../lane/queue-item.ts";

/**
 * A step knows its file by what is in it, and says so as `artifact_hash`; its id is given when the step is settled. People
 * and later steps find it beside the hash, as `artifact_id`.
 */
export function withArtifactId(
  output: Readonly<Record<string, JsonValue>>,
  files: readonly { id: string; hash: string }[],
): Record<string, JsonValue> {
  const file = files.find(({ hash }) => hash === output["artifact_hash"]);
  return file === undefined ? { ...output } : { ...output, artifact_id: file.id };
}
