/** The effective configuration, searched and sorted for people. */
import type { Operations } from "../../api/types.ts";

export type ConfigEntry = Operations["getConfig"]["answer"][number];

/** Whether somebody has set it: it does not stand at its default. */
export function isSet({ source }: ConfigEntry): boolean {
  return source !== "default";
}

const SOURCES: Readonly<Record<string, string>> = {
  default: "Default",
  ".env": ".env file",
  environment: "Environment",
  "command line": "Command line",
};

export function sourceWords(source: ConfigEntry["source"]): string {
  return source === null ? "Program" : (SOURCES[source] ?? source);
}

/** Entries that have all words of the search in their name, value or description. */
export function searchConfig(entries: readonly ConfigEntry[], text: string, onlySet: boolean): ConfigEntry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return entries.filter((entry) => {
    if (onlySet && !isSet(entry)) return false;
    const all = `${entry.name} ${entry.name.replaceAll("_", " ")} ${entry.value ?? ""} ${entry.about}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** A description as text and code in turns: what stands between backticks is code. */
export function codeParts(text: string): { text: string; code: boolean }[] {
  return text
    .split("`")
    .map((part, index) => ({ text: part, code: index % 2 === 1 }))
    .filter((part) => part.text !== "");
}
