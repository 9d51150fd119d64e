import { isoOf } from "../../base/iso.ts";

/** Values of the last hour in ten-second steps, in the memory of one process: earlier values are unknown. */
export const STEP_MS = 10_000;
export const STEPS = 360;

/** One ring buffer per name, `STEPS` long. */
export class Ring<Name extends string> {
  readonly #names: readonly Name[];
  readonly #values: Readonly<Record<Name, Float32Array>>;
  /** The time step of each position; it may be an hour old. */
  readonly #steps = new Int32Array(STEPS).fill(-1);
  #first: number | null = null;
  #last = -1;

  constructor(names: readonly Name[]) {
    this.#names = names;
    const arrays = names.map((name) => [name, new Float32Array(STEPS)]);
    this.#values = Object.fromEntries(arrays) as Record<Name, Float32Array>;
  }

  /** The newest step with a value. */
  get last(): number {
    return this.#last;
  }

  put(step: number, values: Readonly<Record<Name, number>>): void {
    // A clock that was set back would overwrite past values.
    if (step <= this.#last) return;
    const position = step % STEPS;
    this.#steps[position] = step;
    for (const name of this.#names) this.#values[name][position] = values[name];
    this.#first ??= step;
    this.#last = step;
  }

  /** From the first known step, at most an hour before `now`, to the last complete one; null: unknown. */
  read(now: number): Series<Name> {
    // The step that just ended is sampled a moment later.
    const end = Math.max(this.#last, stepOf(now) - 2);
    const first = Math.max(this.#first ?? end + 1, end - STEPS + 1);
    const steps = Array.from({ length: end - first + 1 }, (_, index) => first + index);
    const list = (name: Name) =>
      steps.map((step) => (this.#steps[step % STEPS] === step ? hundredths(this.#values[name][step % STEPS]!) : null));
    return {
      step_seconds: STEP_MS / 1000,
      first_at: steps.length === 0 ? null : isoOf(first * STEP_MS),
      ...(Object.fromEntries(this.#names.map((name) => [name, list(name)])) as Record<Name, (number | null)[]>),
    };
  }
}

export type Series<Name extends string> = {
  step_seconds: number;
  /** When the first step began; null: no samples yet. */
  first_at: string | null;
} & Record<Name, (number | null)[]>;

export function stepOf(time: number): number {
  return Math.floor(time / STEP_MS);
}

/** Averages over this many steps. */
export function coarser<Name extends string>(
  series: Series<Name>,
  names: readonly Name[],
  times: number,
): Series<Name> {
  const merge = (list: readonly (number | null)[]) =>
    Array.from({ length: Math.ceil(list.length / times) }, (_, index) => {
      const known = list.slice(index * times, (index + 1) * times).filter((value) => value !== null);
      return known.length === 0 ? null : hundredths(known.reduce((sum, value) => sum + value, 0) / known.length);
    });
  const merged = Object.fromEntries(names.map((name) => [name, merge(series[name])])) as Record<
    Name,
    (number | null)[]
  >;
  return { ...series, ...merged, step_seconds: series.step_seconds * times };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
