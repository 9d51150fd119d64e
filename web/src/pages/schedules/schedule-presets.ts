/** Common schedules and their cron expressions. */

export const PRESETS = [
  { value: "none", name: "Only when I start it" },
  { value: "hourly", name: "Every hour" },
  { value: "daily", name: "Every day" },
  { value: "weekdays", name: "On weekdays" },
  { value: "weekly", name: "Every week" },
  { value: "monthly", name: "Every month" },
  { value: "custom", name: "Custom (cron)" },
] as const;
export type Preset = (typeof PRESETS)[number]["value"];

export const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"].map(
  (name, index) => ({ value: String((index + 1) % 7), name }),
);

/** Parameters of a preset; `time` as in `06:30`. */
export interface Moment {
  minute: string;
  time: string;
  weekday: string;
  day: string;
}

export const USUAL: Moment = { minute: "0", time: "06:00", weekday: "1", day: "1" };

export interface Chosen extends Moment {
  preset: Preset;
}

/** Empty: manual runs only. */
export function cronOf({ preset, minute, time, weekday, day }: Chosen): string {
  const [hour = "6", at = "0"] = time.split(":").map((part) => String(Number(part)));
  switch (preset) {
    case "none":
    case "custom":
      return "";
    case "hourly":
      return `${minute} * * * *`;
    case "daily":
      return `${at} ${hour} * * *`;
    case "weekdays":
      return `${at} ${hour} * * 1-5`;
    case "weekly":
      return `${at} ${hour} * * ${weekday}`;
    case "monthly":
      return `${at} ${hour} ${day} * *`;
  }
}

/** The preset of an expression; custom if none matches. */
export function presetOf(cron: string): Chosen {
  const text = cron.trim();
  if (text === "") return { preset: "none", ...USUAL };
  const [, minute = "", hour = "", day = "", weekday = ""] =
    /^(\d{1,2}) (\d{1,2}|\*) (\d{1,2}|\*) \* (\d|1-5|\*)$/.exec(text) ?? [];
  const custom: Chosen = { preset: "custom", ...USUAL };
  if (minute === "" || Number(minute) > 59) return custom;
  const isAny = day === "*" && weekday === "*";
  if (hour === "*") return isAny ? { preset: "hourly", ...USUAL, minute: String(Number(minute)) } : custom;
  if (Number(hour) > 23) return custom;
  const at = { ...USUAL, time: `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}` };
  if (isAny) return { preset: "daily", ...at };
  if (day === "*") {
    if (weekday === "1-5") return { preset: "weekdays", ...at };
    return Number(weekday) <= 7 ? { preset: "weekly", ...at, weekday: String(Number(weekday) % 7) } : custom;
  }
  return weekday === "*" && Number(day) >= 1 && Number(day) <= 31
    ? { preset: "monthly", ...at, day: String(Number(day)) }
    : custom;
}

/** Months without that day have no run: warn about it. */
export function presetNote({ preset, day }: Chosen): string | null {
  return preset === "monthly" && Number(day) > 28 ? `Months without a day ${day} are skipped.` : null;
}

/** "Mon 30 Mar 2026, 06:00 (+02:00)" of `2026-03-30T06:00:00+02:00`: in the schedule's zone, not the reader's. */
export function localWords(local: string): string {
  const [, date = "", time = "", seconds = "", offset = ""] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)([+-]\d\d:\d\d)$/.exec(local) ?? [];
  if (date === "") return local;
  const day = new Intl.DateTimeFormat("en-GB", {
    timeZone: "UTC",
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
  }).format(Date.parse(`${date}T00:00:00Z`));
  return `${day.replace(/,/g, "")}, ${time}${seconds === ":00" ? "" : seconds} (${offset === "+00:00" ? "UTC" : offset})`;
}

export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}
