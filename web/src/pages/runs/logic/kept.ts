/** Retention of a run, in words. */
import { fullNumber } from "../../../logic/format.ts";

export interface KeptRun {
  finished_at: string | null;
  expires_at: string | null;
  kept: boolean;
  keep_runs: number | null;
}

interface KeptWords {
  /** Before the time, if any. */
  text: string;
  until: string | null;
  /** Retention will delete it: it can be kept. */
  expires: boolean;
}

/** Null: it has not ended. */
export function keptWords({ finished_at, expires_at, kept, keep_runs }: KeptRun): KeptWords | null {
  if (finished_at === null) return null;
  if (kept) return { text: "Kept until you delete it", until: null, expires: false };
  if (expires_at !== null) return { text: "Kept until", until: expires_at, expires: true };
  if (keep_runs === null) return { text: "Kept until you delete it", until: null, expires: false };
  const runs = keep_runs === 1 ? "the newest run" : `one of the newest ${fullNumber(keep_runs)} runs`;
  return { text: `Kept while it is ${runs} of its job`, until: null, expires: true };
}
