/**
 * What a robots.txt says about the use of its site's content: lines `Content-Signal` (contentsignals.org) and
 * `Content-Usage` (the IETF's AI Preferences), and crawlers for AI that it names and shuts out. Only what is written there
 * is returned; nothing is inferred from silence.
 */
import { agentOf, isAllowed, parseRobots } from "./robots.ts";
import { robotsLines, robotsText } from "./robots-lines.ts";

export interface AiPreferences {
  /** As written, each once: `Content-Signal: search=yes, ai-train=no`. */
  lines: readonly string[];
  /** Names of AI crawlers that may not fetch the start page, by rules of their own. */
  disallowed: readonly string[];
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ["content-signal", "Content-Signal"],
  ["content-usage", "Content-Usage"],
]);
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
  const lines = new Set<string>();
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (lines.size === MOST_LINES) break;
    const preference = preferenceOf(line);
    if (preference !== null) lines.add(preference);
  }
  const named = namesIn(text);
  const disallowed = AI_CRAWLERS.filter(
    (crawler) => named.has(crawler.toLowerCase()) && !isAllowed(parseRobots(text, crawler), "https://site.example/"),
  );
  return { lines: [...lines], disallowed };
}

/** Without a regular expression: lines come from sites, and may be as long as the file. */
function preferenceOf(line: string): string | null {
  const colon = line.indexOf(":");
  if (colon < 0 || colon > LONGEST_LINE) return null;
  const name = NAMES.get(line.slice(0, colon).trim().toLowerCase());
  if (name === undefined) return null;
  const comment = line.indexOf("#", colon);
  const value = line.slice(colon + 1, comment < 0 ? undefined : comment).trim();
  return value === "" ? null : `${name}: ${value}`.slice(0, LONGEST_LINE).toWellFormed();
}

/** As the rules are read: several in a line, with or without a version. */
function namesIn(text: string): Set<string> {
  const named = new Set<string>();
  for (const [key, value] of robotsLines(text)) {
    if (key !== "user-agent") continue;
    for (const part of value.split(",")) {
      const agent = agentOf(part.trim());
      if (agent !== null) named.add(agent);
      // AI2Bot has a digit, where names by the RFC end.
      const written = /^[\w-]+/.exec(part.trim().toLowerCase())?.[0];
      if (written !== undefined) named.add(written);
    }
  }
  return named;
}
