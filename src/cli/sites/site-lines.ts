/** Rows of sites in a picture: name, numbers and state. */
import { stripVTControlCharacters } from "node:util";

export interface SiteLine {
  name: string;
  counts: string;
  state: string;
}

const LEAST_NAME = 10;
/** Between the columns, before them, and one free column at the end. */
const SPACES = 7;

export function siteLines(rows: readonly SiteLine[], columns: number): string[] {
  const widest = (texts: readonly string[]) =>
    Math.max(0, ...texts.map((text) => stripVTControlCharacters(text).length));
  const numbers = widest(rows.map(({ counts }) => counts));
  // What a site waits for matters more than the end of a long name.
  const nameWidth = columns - numbers - widest(rows.map(({ state }) => state)) - SPACES;
  const width = Math.min(widest(rows.map(({ name }) => name)), Math.max(LEAST_NAME, nameWidth));
  return rows.map(({ name, counts, state }) => {
    const cut = name.length > width ? `${name.slice(0, width - 1)}…` : name.padEnd(width);
    return `  ${cut}  ${counts.padStart(numbers)}  ${state}`;
  });
}

export const perSecond = (rate: number) => `${rate.toFixed(rate < 10 ? 1 : 0)}/s`;
