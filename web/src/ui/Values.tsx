/** Formatted values, with the exact one on hover. */
import { useSyncExternalStore } from "react";
import { bytes, duration, exactTime, fullNumber, percent, shortNumber, shownTime } from "../logic/format.ts";
import { serverNow } from "../logic/server-time.ts";

const NONE = <span className="soft">–</span>;

/** One clock for all times on the page: they update together, and nothing else re-renders. */
let now = serverNow();
const listeners = new Set<() => void>();
let ticking: number | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  ticking ??= window.setInterval(() => {
    now = serverNow();
    for (const notify of listeners) notify();
  }, 5000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** Updates every five seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

export function Time({ at }: { at: string | number | null | undefined }) {
  const present = useNow();
  if (at === null || at === undefined) return NONE;
  const time = typeof at === "number" ? at : Date.parse(at);
  return (
    <time dateTime={new Date(time).toISOString()} title={exactTime(time)} className="num">
      {shownTime(time, Math.max(present, serverNow() - 5000), serverNow())}
    </time>
  );
}

/** A duration; with `since` and no end it keeps counting. */
export function Duration({ ms, since, until }: { ms?: number | null; since?: string | null; until?: string | null }) {
  const shown = useNow();
  // Data rendered for another reason is newer than the displayed clock.
  const present = Math.max(shown, serverNow());
  const length =
    ms !== undefined
      ? ms
      : since === null || since === undefined
        ? null
        : (until === null || until === undefined ? present : Date.parse(until)) - Date.parse(since);
  return length === null ? NONE : <span className="num">{duration(Math.max(0, length))}</span>;
}

export function Bytes({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return NONE;
  return (
    <span className="num" title={`${fullNumber(value)} bytes`}>
      {bytes(value)}
    </span>
  );
}

export function Num({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return NONE;
  return (
    <span className="num" title={fullNumber(value)}>
      {shortNumber(value)}
    </span>
  );
}

/** A fraction from 0 to 1. */
export function Percent({ value }: { value: number | null | undefined }) {
  return value === null || value === undefined ? NONE : <span className="num">{percent(value)}</span>;
}
