/** One value of one gauge or counter. */
export interface Reading {
  name: string;
  help: string;
  value: number;
  /** Absent: it goes up and down. */
  kind?: "counter";
  labels?: Readonly<Record<string, string>>;
}

type Values = readonly (readonly [Readonly<Record<string, string>>, number])[];

/** One gauge over several labels. */
export function gauge(name: string, help: string, values: Values): Reading[] {
  return values.map(([labels, value]) => ({ name, help, labels, value }));
}

/** One counter over several labels. */
export function counter(name: string, help: string, values: Values): Reading[] {
  return values.map(([labels, value]) => ({ name, help, kind: "counter", labels, value }));
}
