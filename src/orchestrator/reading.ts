/** One sample of a gauge or counter, or one line of a histogram. */
export interface Reading {
  name: string;
  help: string;
  value: number;
  /** Absent: a gauge. */
  kind?: "counter" | "histogram";
  /** Histogram: which of its lines this is. */
  part?: "bucket" | "sum" | "count";
  labels?: Readonly<Record<string, string>>;
}

type Values = readonly (readonly [Readonly<Record<string, string>>, number])[];

/** One gauge with several label sets. */
export function gauge(name: string, help: string, values: Values): Reading[] {
  return values.map(([labels, value]) => ({ name, help, labels, value }));
}

/** One counter with several label sets. */
export function counter(name: string, help: string, values: Values): Reading[] {
  return values.map(([labels, value]) => ({ name, help, kind: "counter", labels, value }));
}

/** One histogram with several label sets; `buckets` count values up to the bound of the same index. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  values: readonly {
    labels: Readonly<Record<string, string>>;
    buckets: readonly number[];
    sum: number;
    count: number;
  }[],
): Reading[] {
  const kind = "histogram";
  return values.flatMap(({ labels, buckets, sum, count }): Reading[] => [
    ...bounds.map((le, index): Reading => {
      return { name, help, kind, part: "bucket", labels: { ...labels, le: String(le) }, value: buckets[index] ?? 0 };
    }),
    { name, help, kind, part: "bucket", labels: { ...labels, le: "+Inf" }, value: count },
    { name, help, kind, part: "sum", labels, value: sum },
    { name, help, kind, part: "count", labels, value: count },
  ]);
}
