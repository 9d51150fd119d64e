import "./progress.css";

/** `value` from 0 to 100; null: running, with unknown progress. */
export function Progress({
  value,
  label,
  tone = "accent",
}: {
  value: number | null;
  label: string;
  tone?: "accent" | "good" | "warn" | "bad" | "muted";
}) {
  return (
    <div
      className={`progress progress-${tone} ${value === null ? "progress-unknown" : ""}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value ?? undefined}
    >
      <span style={{ width: `${value ?? 30}%` }} />
    </div>
  );
}

/** Usage of a limited resource; turns into a warning by itself. */
export function Meter({ part, label, warnAt = 0.85 }: { part: number; label: string; warnAt?: number }) {
  const value = Math.round(Math.min(1, Math.max(0, part)) * 100);
  return (
    <div
      className={`progress progress-${part >= 0.95 ? "bad" : part >= warnAt ? "warn" : "accent"}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value}
    >
      <span style={{ width: `${value}%` }} />
    </div>
  );
}
