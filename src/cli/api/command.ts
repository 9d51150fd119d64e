import type { Command, CommandOptions } from "commander";
import type { OrbweaverClient } from "../../api-client/client.ts";
import { OrbError } from "../../base/errors.ts";
import { positiveInteger } from "../values.ts";

export interface UrlOption {
  url?: string;
}

export interface ListOptions extends UrlOption {
  limit: number;
  all?: boolean;
}

/** A command that calls the API: on the local database, or on a server. */
export function apiCommand(parent: Command, name: string, description: string, how: CommandOptions = {}): Command {
  return parent
    .command(name, how)
    .description(description)
    .option("--url <address>", "use this server instead of the local database (token from APP_API_TOKEN)");
}

export function listCommand(parent: Command, name: string, description: string, how: CommandOptions = {}): Command {
  return apiCommand(parent, name, description, how)
    .option("--limit <number>", "maximum number of entries", positiveInteger, 50)
    .option("--all", "list all entries");
}

/** A follow-up command for the user, against the same API. */
export function nextCommand(words: string, { url }: UrlOption): string {
  return `orb ${words}${url === undefined ? "" : ` --url ${url}`}`;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const BEGINNING = /^[0-9a-f]{6}[0-9a-f-]{0,29}$/i;

/** Resources whose ids may be shortened to a prefix or `last`. */
const SHORT = new Set(["run", "crawl", "workflow"]);

/** Expands a short id of a run, crawl or workflow through the API. Job ids share their prefix and must be full. */
export async function fullId(
  api: OrbweaverClient,
  what: "run" | "crawl" | "workflow" | "job",
  text: string,
): Promise<string> {
  if (what === "job" || (text !== "last" && !BEGINNING.test(text))) return idOf(text, what === "crawl" ? "run" : what);
  if (what === "crawl") return (await api.crawls.status(text)).task_id;
  if (what === "run") return (await api.runs.get(text)).id;
  return (await api.workflows.get(text)).id;
}

/** Ids become path segments: reject invalid ones here, with their name. */
export function idOf(text: string, what: string, list = `${what}s list`): string {
  if (UUID.test(text)) return text.toLowerCase();
  const message = `expected an id, such as 0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c${SHORT.has(what) ? ", or at least its first 6 characters" : ""}; see orb ${list}`;
  throw new OrbError("input_invalid", `${what}_id: ${message}`, { fields: [{ path: `${what}_id`, message }] });
}

/** Drops undefined values: the API rejects unknown keys. */
export function definedOnly<T extends Record<string, unknown>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Sends user input unchecked: the server validates it. */
export function asUnchecked(value: unknown): never {
  return value as never;
}

/** A time in a table: relative on a screen, ISO for programs. */
export function timeCell(iso: string | null, now: number, columns: number | undefined): string {
  if (iso === null) return "";
  if (columns === undefined) return iso;
  const seconds = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}

/** A URL in a table: shortened on a screen. */
export function addressCell(url: string, columns: number | undefined): string {
  return columns === undefined ? url : url.replace(/^https?:\/\//, "");
}
