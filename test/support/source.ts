/** Reads the project's own source for the tests that check how it is built. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** For commands with an environment of their own: that the program was built before, if it was. */
export const builtBefore: Record<string, string> =
  process.env["ORB_BUILT"] === undefined ? {} : { ORB_BUILT: process.env["ORB_BUILT"] };

export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Files below a folder, as paths from the project's root. */
export function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Rows of the first Markdown table below a heading, cells trimmed, without head and rule. */
export function tableBelow(markdown: string, heading: string): string[][] {
  const section = `\n${markdown}`.slice(`\n${markdown}`.indexOf(`\n${heading}\n`));
  const lines = section.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const length = lines.slice(first).findIndex((line) => !line.startsWith("|"));
  return lines
    .slice(first + 2, length < 0 ? undefined : first + length)
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

/**
 * The code without comments, and on request without the content of quoted strings. Not a parser: a regular expression
 * literal may cost the rest of its line, never more.
 */
export function codeOf(text: string, options: { strings: boolean }): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
  return text.replace(token, (match) => {
    if (match.startsWith("/")) return match.replace(/[^\n]/g, "");
    return options.strings ? match : '""';
  });
}

/** Everything a file names as another module: static, dynamic, type-only, re-exported, or given to a worker. */
export function importsOf(text: string): string[] {
  const code = codeOf(text, { strings: true });
  const forms = [
    /\b(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/g,
    /\bimport\s*["']([^"']+)["']/g,
    /\bimport\s*\(\s*["'`]([^"'`]+)["'`]/g,
    /\bnew URL\(\s*["'`](\.[^"'`]+\.ts)["'`]\s*,\s*import\.meta\.url/g,
  ];
  return forms.flatMap((form) => [...code.matchAll(form)].map((match) => match[1] ?? ""));
}
