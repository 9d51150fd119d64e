import type { TaskArtifact } from "../../../domain/run/outcome.ts";
import type { FetchedPage, FetchOptions } from "./protocol.ts";

/** What the engine does for user code; all of its network access goes through here. */
export interface HandlerServices {
  fetch(url: string, options: FetchOptions, signal: AbortSignal): Promise<FetchedPage>;
  /** `partKey` names the partial transfer to resume. */
  download(
    url: string,
    options: { headers?: Record<string, string>; partKey?: string },
    signal: AbortSignal,
  ): Promise<TaskArtifact>;
  save(bytes: Uint8Array, contentType: string | null, url: string): Promise<TaskArtifact>;
}
