/** What a monitor compares from run to run; names as in the API. */
import { hash } from "node:crypto";

export const MONITORED = ["text", "markdown", "fields", "links", "screenshot"] as const;
export type Monitored = (typeof MONITORED)[number];

/** Classes of built-in noise. */
export const NOISE_CLASSES = ["dates", "counters", "ids"] as const;
export type NoiseClass = (typeof NOISE_CLASSES)[number];

export interface MonitorOptions {
  what: Monitored;
  /** `/regular expressions/` and CSS selectors; of `fields`: names of fields. */
  ignore: string[];
  noise: NoiseClass[];
  /** Whether places that change on their own are learned and left out. */
  learn: boolean;
  /** Places that count although they change on their own: by the name that a difference shows, or by `/expressions/`. */
  watch: string[];
  /** Fewer changed words are no change. */
  min_words: number;
  /** A smaller share of changed words, or of changed pixels, is no change; null: the default. */
  min_share: number | null;
  /** The field that identifies a record, of `fields`; null: `url`, or the position. */
  key: string | null;
  /** How many changes the history keeps. */
  keep: number;
}

/** Declared once: schema, flags and help derive from this. */
export const MONITOR_LIMITS = { ignore: 100, watch: 100, minWords: 10_000, keep: 10_000 } as const;

export const MONITOR_DEFAULTS: MonitorOptions = {
  what: "text",
  ignore: [],
  noise: [...NOISE_CLASSES],
  learn: true,
  watch: [],
  min_words: 1,
  min_share: null,
  key: null,
  keep: 1000,
};

/** Rendering differs by a few pixels from time to time. */
const MIN_PIXEL_SHARE = 0.001;

export function minShareOf({ what, min_share: share }: Pick<MonitorOptions, "what" | "min_share">): number {
  return share ?? (what === "screenshot" ? MIN_PIXEL_SHARE : 0);
}

/** A pattern in slashes; null: it is a selector, or the name of a field. */
export function regexIn(pattern: string): string | null {
  return pattern.length > 2 && pattern.startsWith("/") && pattern.endsWith("/") ? pattern.slice(1, -1) : null;
}

/** Selectors of elements that are left out when the page is read. */
export function selectorsOf({ what, ignore }: Pick<MonitorOptions, "what" | "ignore">): string[] {
  return what === "fields" || what === "screenshot" ? [] : ignore.filter((pattern) => regexIn(pattern) === null);
}

/**
 * Equal for monitors whose contents are comparable: with another value, the next run starts a new comparison. `reading`:
 * what else decides about the content, such as the rules of the fields.
 */
export function monitorRules(options: MonitorOptions, reading: unknown): string {
  const { what, key } = options;
  const read = what === "fields" || what === "markdown" || what === "screenshot" ? reading : null;
  return hash("sha256", JSON.stringify([what, key, selectorsOf(options), read]), "hex").slice(0, 16);
}
