import { sparklinePath, summaryOf } from "../logic/series.ts";
import { shortNumber } from "../../logic/format.ts";
import "./chart.css";

/** A small line without axes: shows the trend, not the values. */
export function Sparkline({
  values,
  label,
  width = 96,
  height = 24,
  tone = "accent",
  say = shortNumber,
}: {
  values: readonly (number | null)[];
  label: string;
  width?: number;
  height?: number;
  tone?: "accent" | "good" | "warn" | "bad" | "muted";
  say?: (value: number) => string;
}) {
  const path = sparklinePath(values, width, height);
  const summary = summaryOf(label, values, say);
  return (
    <svg
      className={`sparkline sparkline-${tone}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={summary}
    >
      <title>{summary}</title>
      {path === "" ? (
        <path className="sparkline-none" d={`M0 ${height / 2}H${width}`} />
      ) : (
        <path d={path} fill="none" strokeWidth="1.5" strokeLinejoin="round" strokeLinecap="round" />
      )}
    </svg>
  );
}
