import { InvalidArgumentError } from "commander";

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("expected a whole number above 0.");
  return Number(text);
}

/** A number within bounds, or `default`, which restores the configured value. */
export function numberOrDefault(bounds: { min: number; whole?: boolean }): (text: string) => number | "default" {
  return (text) => {
    // Not null: commander would turn it into an empty string.
    if (text === "default") return text;
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= bounds.min) || (bounds.whole === true && !Number.isInteger(value))) {
      throw new InvalidArgumentError(
        `expected ${bounds.whole === true ? "a whole number" : "a number"} of at least ${bounds.min}, or default.`,
      );
    }
    return value;
  };
}

export function positiveNumber(text: string): number {
  const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (!(value > 0)) throw new InvalidArgumentError("expected a number above 0.");
  return value;
}

export function numberFrom(least: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least)) throw new InvalidArgumentError(`expected a number, ${least} or more.`);
    return value;
  };
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number, 0 or more.");
  return Number(text);
}

/** One or more of these words, separated by commas. */
export function someOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    const unknown = text.split(",").find((word) => !words.includes(word));
    if (unknown !== undefined) throw new InvalidArgumentError(`"${unknown}" is not one of ${words.join(", ")}.`);
    return text;
  };
}
