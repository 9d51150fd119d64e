import type { TaskArtifact } from "../../../domain/run/outcome.ts";
import type { FetchedPage, FetchOptions } from "./protocol.ts";

/** What the engine does on behalf of a user's code; every way out to the network goes through here. */
export interface HandlerServices {
  fetch(url: string, options: FetchOptions, signal: AbortSignal): Promise<FetchedPage>;
  /** `partKey` names what a transfer that broke off goes on from. */
  download(
    url: string,
    options: { headers?: Record<string, string>; partKey?: string },
    signal: AbortSignal,
  ): Promise<TaskArtifact>;
  save(bytes: Uint8Array, contentType: string | null, url: string): Promise<TaskArtifact>;
}
