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

/** A command that speaks the API: on the database here, or on a server. */
export function apiCommand(parent: Command, name: string, description: string, how: CommandOptions = {}): Command {
  return parent
    .command(name, how)
    .description(description)
    .option("--url <address>", "ask this server instead of the database here (token: APP_API_TOKEN)");
}

export function listCommand(parent: Command, name: string, description: string, how: CommandOptions = {}): Command {
  return apiCommand(parent, name, description, how)
    .option("--limit <number>", "how many", positiveInteger, 50)
    .option("--all", "all of them");
}

/** What to type next: it speaks to the same API as the command that says so. */
export function nextCommand(words: string, { url }: UrlOption): string {
  return `orb ${words}${url === undefined ? "" : ` --url ${url}`}`;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const BEGINNING = /^[0-9a-f]{6}[0-9a-f-]{0,29}$/i;

/** Whose ids may be given by their beginning, and which of them also as `last`, the newest. */
const SHORT = new Set(["run", "crawl", "workflow"]);

/**
 * The whole id of a run, a crawl or a workflow: of a beginning that screens show, or of `last`, the API knows it. Ids of
 * jobs all begin alike, and are given whole.
 */
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

/** Ids stand in paths: what is none is refused here, by its name. */
export function idOf(text: string, what: string, list = `${what}s list`): string {
  if (UUID.test(text)) return text.toLowerCase();
  const message = `expected an id, such as 0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c${SHORT.has(what) ? ", or at least its first 6 characters" : ""}; orb ${list} shows them`;
  throw new OrbError("input_invalid", `${what}_id: ${message}`, { fields: [{ path: `${what}_id`, message }] });
}

/** Without keys whose value is undefined: the API rejects those it does not know. */
export function definedOnly<T extends Record<string, unknown>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** What people have written goes to the server as it is: it says what is wrong with it. */
export function asSaid(value: unknown): never {
  return value as never;
}

/** When something was, for a table: how long ago on a screen, the time itself for programs. */
export function timeCell(iso: string | null, now: number, columns: number | undefined): string {
  if (iso === null) return "";
  if (columns === undefined) return iso;
  const seconds = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}

/** An address for a table: on a screen every column counts. */
export function addressCell(url: string, columns: number | undefined): string {
  return columns === undefined ? url : url.replace(/^https?:\/\//, "");
}
