/** Median of several measurements; single runs on a shared machine are unreliable. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

export async function seconds(work: () => Promise<unknown> | unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

/** Runs the contestants alternately, so that a slow minute of the machine affects all of them. */
export async function race<Name extends string>(
  contestants: Record<Name, () => Promise<number>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, [] as number[]])) as Record<
    Name,
    number[]
  >;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of Object.keys(contestants) as Name[]) {
      globalThis.gc?.();
      results[name].push(await contestants[name]());
    }
  }
  return Object.fromEntries(Object.entries(results).map(([name, list]) => [name, median(list as number[])])) as Record<
    Name,
    number
  >;
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString("en-US").padStart(9)}/s`;
}

/** Prints one verdict: target and result. */
export function verdict(name: string, ratio: number, wanted: number, unit = "×"): boolean {
  const good = ratio >= wanted;
  print(`${good ? "reached" : "MISSED "}  ${name}: ${ratio.toFixed(2)}${unit} (wanted ≥ ${wanted}${unit})`);
  return good;
}

/** The same where less is better. */
export function verdictAtMost(name: string, value: number, wanted: number, unit = "×"): boolean {
  const good = value <= wanted;
  const shown = Number.isInteger(value) ? value : value.toFixed(2);
  print(`${good ? "reached" : "MISSED "}  ${name}: ${shown}${unit} (wanted ≤ ${wanted}${unit})`);
  return good;
}
