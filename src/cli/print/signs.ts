/** The signs of pictures, for screens that know only ASCII: as wide as the others, so that nothing moves. */
const PLAIN: Readonly<Record<string, string>> = {
  "✓": "+",
  "✗": "x",
  "↻": "~",
  "◐": "z",
  "○": "o",
  "·": ".",
  "–": "-",
  "⊘": "#",
  "▸": ">",
  "█": "#",
  "░": ".",
  "…": "~",
  "≥": ">",
  "├": "|",
  "│": "|",
  "└": "`",
  "─": "-",
  ...Object.fromEntries([..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"].map((sign, index) => [sign, "|/-\\"[index % 4] ?? "|"])),
};

const SIGNS = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "gu");

export function plainSigns(text: string): string {
  return text.replace(SIGNS, (sign) => PLAIN[sign] ?? "?");
}

/** Whether a screen shows more than ASCII, as the locale says; one that says nothing is believed to. */
export function isAsciiOnly(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return env["TERM"] === "linux" || (locale !== "" && !/utf-?8/i.test(locale));
}
