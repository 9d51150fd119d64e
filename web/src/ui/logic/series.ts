/** Time series for charts and sparklines. */

export interface Point {
  at: number;
  value: number | null;
}

export interface Extent {
  min: number;
  max: number;
}

function extentOf(values: readonly (number | null)[]): Extent | null {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  return known.length === 0 ? null : { min: Math.min(...known), max: Math.max(...known) };
}

/** The path of a sparkline in a box; gaps where there is no value. A flat line is centred. */
export function sparklinePath(values: readonly (number | null)[], width: number, height: number, pad = 1.5): string {
  const extent = extentOf(values);
  if (extent === null || values.length < 2) return "";
  const low = Math.min(0, extent.min);
  const span = extent.max - low;
  const step = width / (values.length - 1);
  let path = "";
  let pen = false;
  values.forEach((value, index) => {
    if (value === null || !Number.isFinite(value)) {
      pen = false;
      return;
    }
    const share = span === 0 ? 0.5 : (value - low) / span;
    const y = height - pad - share * (height - 2 * pad);
    path += `${pen ? "L" : "M"}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    pen = true;
  });
  return path;
}

/** The text alternative of a chart. */
export function summaryOf(name: string, values: readonly (number | null)[], say: (value: number) => string): string {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const [last] = known.slice(-1);
  const extent = extentOf(known);
  if (last === undefined || extent === null) return `${name}: no values yet.`;
  return `${name}: now ${say(last)}, lowest ${say(extent.min)}, highest ${say(extent.max)}.`;
}
