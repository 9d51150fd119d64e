import { benchDuplicates } from "./duplicates.ts";
import { benchSteps } from "./steps.ts";

export const defaultRounds = 3;

/** `--part steps` or `--part duplicates` measures one of them; `--part small` is a quick pass over both. */
export async function run(rounds: number, { part }: { part?: string }): Promise<boolean> {
  const small = part === "small";
  const results: boolean[] = [];
  if (part !== "duplicates") results.push(await benchSteps(rounds, small));
  if (part !== "steps") results.push(await benchDuplicates(small));
  return results.every(Boolean);
}
