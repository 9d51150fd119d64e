import type { ReactNode } from "react";
import { lookOf, type Tone } from "../logic/states.ts";
import { Icon } from "./Icon.tsx";
import "./icon.css";
import "./badge.css";

export function Badge({ tone = "neutral", title, children }: { tone?: Tone; title?: string; children: ReactNode }) {
  return (
    <span className={`badge tone-${tone}`} title={title}>
      {children}
    </span>
  );
}

/** The state of a run, task, site, worker …: colour, word and shape say the same. */
export function StatusBadge({ status, title }: { status: string; title?: string }) {
  const { word, tone, shape } = lookOf(status);
  return (
    <span className={`badge tone-${tone}`} title={title}>
      <Icon name={shape} size={12} spin={shape === "spin"} />
      {word}
    </span>
  );
}
