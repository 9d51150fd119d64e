import type { ReactNode } from "react";
import "./card.css";

/** A box with a heading; `flush` where a table or list fills it to the edges. */
export function Card({
  title,
  actions,
  flush = false,
  className = "",
  children,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={`card ${flush ? "card-flush" : ""} ${className}`}>
      {title === undefined ? null : (
        <header className="card-head">
          <h2>{title}</h2>
          {actions === undefined ? null : <div className="row">{actions}</div>}
        </header>
      )}
      <div className="card-body">{children}</div>
    </section>
  );
}

/** One key figure, with a line of explanation below it. */
export function Stat({
  name,
  value,
  note,
  tone,
  children,
}: {
  name: string;
  value: ReactNode;
  note?: ReactNode;
  tone?: "good" | "warn" | "bad";
  children?: ReactNode;
}) {
  return (
    <div className="stat">
      <div className="stat-name">{name}</div>
      <div className={`stat-value num ${tone === undefined ? "" : `stat-${tone}`}`}>{value}</div>
      {note === undefined ? null : <div className="stat-note">{note}</div>}
      {children}
    </div>
  );
}

export interface Pair {
  name: string;
  /** Its technical name. */
  key?: string;
  value: ReactNode;
}

/** Names and values below each other; omits missing values. */
export function KeyValue({ pairs }: { pairs: readonly (Pair | null)[] }) {
  return (
    <dl className="key-value">
      {pairs
        .filter((pair) => pair !== null)
        .map(({ name, key, value }) => (
          <div key={name}>
            <dt>
              {name}
              {key === undefined ? null : <code className="key-value-key">{key}</code>}
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Numbers side by side in one box; two per line on phones. */
export function StatRow({ children }: { children: ReactNode }) {
  return <div className="card stat-row">{children}</div>;
}
