/** ASCII replacements of drawing characters, with the same width. */
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

/** Whether the locale rules out more than ASCII; an unset locale does not. */
export function isAsciiOnly(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return env["TERM"] === "linux" || (locale !== "" && !/utf-?8/i.test(locale));
}
