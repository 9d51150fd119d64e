/** URIs of resources. */
import { encodeCursor, type RecordPosition } from "./cursor.ts";

export function resultsUri(runId: string, position?: RecordPosition): string {
  return `orb://runs/${runId}/results${position === undefined ? "" : `?cursor=${encodeCursor(position)}`}`;
}

export function artifactUri(id: string, offset = 0): string {
  return `orb://artifacts/${id}${offset === 0 ? "" : `?offset=${offset}`}`;
}
