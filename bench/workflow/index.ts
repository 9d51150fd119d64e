import { benchDuplicates } from "./duplicates.ts";
import { benchSteps } from "./steps.ts";
import { benchTexts } from "./texts.ts";

export const defaultRounds = 3;

/**
 * `--part steps`, `duplicates` or `texts` measures one of them; `--part small` is a quick pass over all. The texts are a
 * million, which takes minutes and gigabytes of disk; `--limit` is another number of them.
 */
export async function run(rounds: number, { part, limit }: { part?: string; limit?: string }): Promise<boolean> {
  const small = part === "small";
  const isAsked = (name: string) => part === undefined || small || part === name;
  const results: boolean[] = [];
  if (isAsked("steps")) results.push(await benchSteps(rounds, small));
  if (isAsked("duplicates")) results.push(await benchDuplicates(small));
  if (isAsked("texts"))
    results.push(await benchTexts(limit === undefined ? (small ? 10_000 : 1_000_000) : Number(limit)));
  return results.every(Boolean);
}
