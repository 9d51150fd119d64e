/**
 * What a robots.txt says about the use of its site's content: lines `Content-Signal` (contentsignals.org) and
 * `Content-Usage` (the IETF's AI Preferences), and crawlers for AI that it names and shuts out. Only what is written there
 * is returned; nothing is inferred from silence.
 */
import { isAllowed, parseRobots } from "./robots.ts";
import { robotsLines, robotsText } from "./robots-lines.ts";

export interface AiPreferences {
  /** As written, each once: `Content-Signal: search=yes, ai-train=no`. */
  lines: readonly string[];
  /** Names of AI crawlers that may not fetch the start page, by rules of their own. */
  disallowed: readonly string[];
}

const LINE = /^\s*(content-(?:signal|usage))\s*:\s*(.+?)\s*(?:#.*)?$/i;
const NAMES: Readonly<Record<string, string>> = {
  "content-signal": "Content-Signal",
  "content-usage": "Content-Usage",
};
const MOST_LINES = 20;
const LONGEST_LINE = 300;

/** Crawlers that collect training data or feed assistants, by their product tokens. */
const AI_CRAWLERS = [
  "AI2Bot",
  "Amazonbot",
  "anthropic-ai",
  "Applebot-Extended",
  "Bytespider",
  "CCBot",
  "ClaudeBot",
  "cohere-ai",
  "Google-Extended",
  "GPTBot",
  "meta-externalagent",
  "PerplexityBot",
] as const;

export function aiPreferences(robots: Uint8Array): AiPreferences {
  const text = robotsText(robots);
  const lines = text.split(/\r\n|\r|\n/).flatMap((line) => {
    const [, name = "", value = ""] = LINE.exec(line) ?? [];
    return value === "" ? [] : [`${NAMES[name.toLowerCase()]}: ${value}`.slice(0, LONGEST_LINE)];
  });
  const named = new Set<string>();
  for (const [key, value] of robotsLines(text)) if (key === "user-agent") named.add(value.toLowerCase());
  const disallowed = AI_CRAWLERS.filter(
    (crawler) => named.has(crawler.toLowerCase()) && !isAllowed(parseRobots(text, crawler), "https://site.example/"),
  );
  return { lines: [...new Set(lines)].slice(0, MOST_LINES), disallowed };
}
