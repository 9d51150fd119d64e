import { InvalidArgumentError } from "commander";

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("expected a whole number above 0.");
  return Number(text);
}
