/** Records of task outputs. */
import type { ArtifactRole, TaskArtifact } from "../../domain/run/outcome.ts";

export interface ResultRecord {
  id: string;
  taskId: string;
  runId: string;
  url: string | null;
  ordinal: number;
  data: unknown;
  createdAt: number;
}

export interface ArtifactRecord extends TaskArtifact {
  id: string;
  role: ArtifactRole;
  row: number;
  taskId: string;
  createdAt: number;
}
