/** Formats numbers, sizes and times. */

const wholeNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 0, 7, 1,234; shortened from ten thousand on: 12.3k, 4.5M. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 10_000) return Number.isInteger(value) ? wholeNumber.format(value) : fraction(value);
  for (const [unit, name] of [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const)
    if (size >= unit * 0.9995) return `${fraction(value / unit)}${name}`;
  return wholeNumber.format(value);
}

export function fullNumber(value: number): string {
  return new Intl.NumberFormat("en", { maximumFractionDigits: 3 }).format(value);
}

/** Three significant digits without trailing zeros: 0.25, 1.5, 12.3, 480. */
function fraction(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return String(Number(value.toFixed(digits)));
}

/** Pages per second. */
export function rate(perSecond: number): string {
  if (perSecond > 0 && perSecond < 0.1) return `${fraction(perSecond * 60)}/min`;
  return `${shortNumber(Number(perSecond.toFixed(perSecond < 10 ? 1 : 0)))}/s`;
}

/** 0.987 → 98.7 %; never "100 %" for less than all. */
export function percent(part: number): string {
  if (!Number.isFinite(part)) return "–";
  const value = part * 100;
  if (value >= 100 || value <= 0) return `${Math.round(value)} %`;
  if (value > 99.9) return "> 99.9 %";
  if (value < 0.1) return "< 0.1 %";
  return `${Number(value.toFixed(value < 10 || value > 90 ? 1 : 0))} %`;
}

const SIZES = ["B", "KB", "MB", "GB", "TB", "PB"] as const;

export function bytes(value: number): string {
  if (!Number.isFinite(value)) return "–";
  let size = Math.abs(value);
  let unit = 0;
  while (size >= 1000 && unit < SIZES.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${value < 0 ? "−" : ""}${unit === 0 ? size : fraction(size)} ${SIZES[unit]}`;
}

/** 340 ms, 4.2 s, 12 s, 3m 20s, 2h 5m, 4d 3h: at most two units. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Number((ms / 1000).toFixed(1))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return twoUnits(seconds);
}

function twoUnits(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3600, "h"],
    [60, "m"],
    [1, "s"],
  ] as const;
  const first = units.findIndex(([size]) => seconds >= size);
  const [size, name] = units[first] ?? [1, "s"];
  const next = units[first + 1];
  const count = Math.floor(seconds / size);
  if (next === undefined) return `${count}${name}`;
  const rest = Math.floor((seconds - count * size) / next[0]);
  return rest === 0 ? `${count}${name}` : `${count}${name} ${rest}${next[1]}`;
}

/** Remaining time, rounded. `most` is the upper end of a range. */
export function eta(seconds: number | null, most: number | null = null): string {
  if (seconds === null || !Number.isFinite(seconds)) return "";
  const [least, longest] = [about(seconds), most === null ? null : about(Math.max(most, seconds))];
  if (longest === null || longest === least) return `${least} left`;
  // "4–9 min left", "50 s–3 min left".
  const [number = "", unit = "", ...rest] = least.split(" ");
  const isOneUnit = rest.length === 0 && longest.endsWith(` ${unit}`) && longest.split(" ").length === 2;
  return isOneUnit && least !== MOMENT
    ? `${number}–${longest} left`
    : `${least === MOMENT ? "up to " : `${least}–`}${longest} left`;
}

const MOMENT = "a moment";

function about(seconds: number): string {
  if (seconds < 5) return MOMENT;
  if (seconds < 60) return `${Math.ceil(seconds / 5) * 5} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return twoUnits(Math.ceil(seconds / 60) * 60);
}

/** "just now", "4 min ago", "in 2 h", "yesterday"; beyond a week: the date. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.round((at - now) / 1000);
  const seconds = Math.abs(distance);
  if (seconds < 5) return "just now";
  const say = (count: number, unit: string) => (distance < 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`);
  if (seconds < 60) return say(seconds, "s");
  if (seconds < 3600) return say(Math.floor(seconds / 60), "min");
  if (seconds < 86_400) return say(Math.floor(seconds / 3600), "h");
  const days = Math.floor(seconds / 86_400);
  if (days < 7) return days === 1 ? (distance < 0 ? "yesterday" : "tomorrow") : say(days, "days");
  const date = new Date(at);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString("en", {
    day: "numeric",
    month: "short",
    ...(sameYear ? {} : { year: "numeric" }),
  });
}

/**
 * Like `relativeTime`, for a displayed clock that lags some seconds: what has happened by `present` never reads as
 * future.
 */
export function shownTime(at: number, shown: number, present: number): string {
  return relativeTime(at, at <= present ? Math.max(at, shown) : shown);
}

export function exactTime(at: number): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" });
}

/** "1 page", "2 pages". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${shortNumber(value)} ${value === 1 ? one : many}`;
}

/** A URL without its scheme and other common parts; `shorten` may cut the rest in the middle. */
export function plainUrl(url: string): string {
  return url.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "");
}

/** Cuts out the middle: the start says where, the end says what. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) * 0.4);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** API names → words: `connection_refused` → "connection refused". */
export function words(name: string): string {
  return name.replaceAll("_", " ").replace(/\b(?:http|dns|tls|html|url|api)\b/g, (short) => short.toUpperCase());
}

export function sentence(name: string): string {
  return capital(words(name));
}

/** Makes a clause a sentence of its own. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
