/** Addresses of what agents can read as resources. */
import { encodePlace, type Place } from "./cursor.ts";

export function resultsUri(runId: string, place?: Place): string {
  return `orb://runs/${runId}/results${place === undefined ? "" : `?cursor=${encodePlace(place)}`}`;
}

export function artifactUri(id: string, offset = 0): string {
  return `orb://artifacts/${id}${offset === 0 ? "" : `?offset=${offset}`}`;
}
