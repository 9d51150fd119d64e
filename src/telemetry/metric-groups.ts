import type { Reading } from "../orchestrator/reading.ts";

/** Of the protocol: a counter counts from the start of the process on. */
export const CUMULATIVE = 2;

interface Histogram {
  labels: Record<string, string>;
  count: number;
  sum: number;
  bounds: number[];
  /** Of the values between two bounds, one more than there are bounds. */
  counts: number[];
}

/** Our buckets count all values up to their bound, those of the protocol the values between two bounds. */
export function histogramsOf(group: readonly Reading[]): Histogram[] {
  const labelsOf = ({ labels = {} }: Reading) => {
    const { le: _, ...others } = labels as Record<string, string>;
    return others;
  };
  return [...Map.groupBy(group, (reading) => JSON.stringify(labelsOf(reading)))].map(([, lines]) => {
    const bounded = lines.filter(({ part, labels }) => part === "bucket" && labels?.["le"] !== "+Inf");
    const count = lines.find(({ part }) => part === "count")?.value ?? 0;
    const upTo = [...bounded.map(({ value }) => value), count];
    return {
      labels: labelsOf(lines[0]!),
      count,
      sum: lines.find(({ part }) => part === "sum")?.value ?? 0,
      bounds: bounded.map(({ labels }) => Number(labels?.["le"])),
      counts: upTo.map((value, index) => value - (upTo[index - 1] ?? 0)),
    };
  });
}
