/** Retention of a run, in words. */
export function keptWords({
  expires_at: until,
  kept,
  keep_runs: runs,
}: {
  expires_at: string | null;
  kept: boolean;
  keep_runs: number | null;
}): string {
  if (kept) return "kept until you delete it";
  const newest =
    runs === null ? "" : `while it is ${runs === 1 ? "the newest run" : `one of the newest ${runs} runs`} of its job`;
  if (until !== null) return `kept until ${until}${newest === "" ? "" : `, but only ${newest}`}`;
  return newest === "" ? "kept until you delete it" : `kept ${newest}`;
}
