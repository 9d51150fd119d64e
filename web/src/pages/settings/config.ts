/** Search and sorting of the effective configuration. */
import type { Operations } from "../../api/types.ts";

export type ConfigEntry = Operations["getConfig"]["answer"][number];

/** Whether it is set, rather than at its default. */
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

/** Entries with all search words in their name, value or description. */
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

/** Splits a description into text and code: text between backticks is code. */
export function codeParts(text: string): { text: string; code: boolean }[] {
  return text
    .split("`")
    .map((part, index) => ({ text: part, code: index % 2 === 1 }))
    .filter((part) => part.text !== "");
}
