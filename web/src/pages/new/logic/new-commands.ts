/** The form as commands that send the same request. */
import { crawlSettings } from "../../../../../src/domain/crawl/crawl-settings.ts";
import { type Form, jobOrderOf, orderOf } from "./new-form.ts";
import { type Json, lines } from "./new-values.ts";
import { browserWords, documentWords } from "./option-words.ts";
import { command, option, quoted, withInput } from "../../../logic/shell.ts";

export interface Server {
  /** For example http://127.0.0.1:8000. */
  origin: string;
  needsToken: boolean;
}

export interface Snippets {
  curl: string;
  orb: string;
  json: string;
}

/** A job to create or change. */
interface Saving {
  job: string | null;
  /** A YAML definition, as parsed. */
  read?: Json | null;
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2);
const TOKEN = `-H "Authorization: Bearer $APP_API_TOKEN"`;

function curl(server: Server, method: string, path: string, type: string): string[] {
  return [
    "curl",
    ...(method === "POST" ? [] : [`-X ${method}`]),
    quoted(`${server.origin}${path}`),
    ...(server.needsToken ? [TOKEN] : []),
    `-H ${quoted(`Content-Type: ${type}`)}`,
  ];
}

function curlJson(server: Server, method: string, path: string, body: Json): string {
  return command([...curl(server, method, path, "application/json"), `-d ${quoted(pretty(body))}`]);
}

const isDefinition = (form: Form) => form.kind === "workflow" && form.source === "definition";

const PATHS = { crawl: "/scraping/async-scrape", scrape: "/runs", workflow: "/workflows" } as const;

/** Secret texts are not shown: the user of the command fills them in. */
function withoutSecretTexts(form: Form): Form {
  const hidden = (action: Form["actions"][number]) => (action.secret ? { ...action, text: "", kept: true } : action);
  return { ...form, actions: form.actions.map(hidden) };
}

export function snippetsOf(typed: Form, server: Server, saving: Saving | null = null): Snippets {
  const form = withoutSecretTexts(typed);
  if (saving !== null) return jobSnippets(form, server, saving);
  const path = PATHS[form.kind];
  if (isDefinition(form)) {
    const line = command([...curl(server, "POST", path, "application/yaml"), "--data-binary @-"]);
    const orb = command(["orb workflows run -", option("--url", server.origin)]);
    return { curl: withInput(line, form.definition), orb: withInput(orb, form.definition), json: form.definition };
  }
  const { body } = orderOf(form);
  const orb = { crawl: orbCrawl, scrape: orbScrape, workflow: orbWorkflow }[form.kind];
  const inexpressible = WITHOUT_OPTION.filter((key) => body[key] !== undefined);
  const line =
    inexpressible.length === 0
      ? orb(body, server)
      : `# orb ${form.kind} has no option for ${inexpressible.join(", ")}. Save it as a job:\n${jobSnippets(form, server, { job: null }).orb}`;
  return { curl: curlJson(server, "POST", path, body), orb: line, json: pretty(body) };
}

/** Settings of cloned runs that `orb scrape` and `orb crawl` have no option for. */
const WITHOUT_OPTION = [
  "requires_auth",
  "escalate",
  "replay",
  ...crawlSettings.filter(([name, { cli }]) => cli === undefined && name !== "max_attempts").map(([name]) => name),
];

function jobSnippets(form: Form, server: Server, { job, read = null }: Saving): Snippets {
  const { body } = jobOrderOf(form, { changes: job !== null, read });
  const [method, path] = job === null ? ["POST", "/jobs"] : ["PATCH", `/jobs/${encodeURIComponent(job)}`];
  const words = job === null ? "orb jobs create -" : `orb jobs update ${quoted(job)} -`;
  return {
    curl: curlJson(server, method, path, body),
    orb: withInput(command([words, option("--url", server.origin)]), pretty(body)),
    json: pretty(body),
  };
}

type Words = string[];

const one = (name: string, value: unknown): Words =>
  value === undefined || value === null ? [] : [option(name, String(value))];
const each = (name: string, values: unknown): Words =>
  Array.isArray(values) ? values.map((value) => option(name, String(value))) : [];
const flag = (name: string, isSet: boolean): Words => (isSet ? [name] : []);

const headerWords = ({ headers }: Json): Words =>
  Object.entries((headers ?? {}) as Json).map(([name, value]) => option("--header", `${name}: ${String(value)}`));

/** URLs come last; one that starts with a dash is still a URL. */
function targets(urls: readonly string[]): Words {
  return [...(urls.some((url) => url.startsWith("-")) ? ["--"] : []), ...urls.map(quoted)];
}

/** The flags of a crawl's settings. */
function settingWords(body: Json): Words {
  return crawlSettings.flatMap(([name, { cli }]) => {
    if (cli === undefined) return [];
    const word = cli.flag.split(" ")[0]!;
    const value = body[name];
    if (cli.off !== undefined && value === !cli.sets) return [word.replace(/^--/, "--no-")];
    if (cli.sets !== undefined) return flag(word, value === cli.sets);
    return Array.isArray(value) ? each(word, value) : one(word, value);
  });
}

function orbCrawl(body: Json, server: Server): string {
  const urls = Array.isArray(body["url"]) ? (body["url"] as string[]) : lines(String(body["url"] ?? ""));
  const { words, input } = readingWords(body, NO_WORDS);
  const parts = [
    "orb crawl",
    ...one("--name", body["name"]),
    ...settingWords(body),
    ...one("--max-attempts", body["max_attempts"]),
    ...one("--strategy", body["strategy"]),
    ...one("--proxy", body["proxy"]),
    ...one("--session", body["session_id"]),
    ...one("--format", body["export_format"]),
    ...headerWords(body),
    ...words,
    option("--url", server.origin),
    ...targets(urls),
  ];
  return input === null ? command(parts) : withInput(command(parts), input);
}

function orbScrape(body: Json, server: Server): string {
  const { words, input } = readingWords(body, {
    document: documentWords(body["document"] as Json | undefined),
    browser: browserWords(body["browser"] as Json | undefined),
  });
  const attempts = body["max_attempts"];
  const parts = [
    "orb scrape",
    ...one("--strategy", body["strategy"]),
    ...one("--proxy", body["proxy"]),
    ...flag("--respect-robots", body["respect_robots"] === true),
    ...flag("--no-documents", body["documents"] === false),
    ...one("--timeout", body["timeout_seconds"]),
    ...one("--max-attempts", attempts === 1 ? undefined : attempts),
    ...one("--session", body["session_id"]),
    ...headerWords(body),
    ...Object.entries((body["cookies"] ?? {}) as Json).map(([name, value]) =>
      option("--cookie", `${name}=${String(value)}`),
    ),
    ...words,
    option("--url", server.origin),
    ...targets([String(body["target_url"] ?? "")]),
  ];
  return input === null ? command(parts) : withInput(command(parts), input);
}

function orbWorkflow(body: Json, server: Server): string {
  const params = (body["params"] ?? {}) as Json;
  const words = Object.entries(params).map(([name, value]) => paramWord(name, value));
  const plain = words.every((word) => word !== null);
  const parts = [
    `orb workflows run ${quoted(String(body["template"] ?? ""))}`,
    ...one("--template-version", body["template_version"]),
    ...one("--name", body["name"]),
    ...(plain ? words.map((word) => option("--param", word ?? "")) : ["--params -"]),
    option("--url", server.origin),
  ];
  return plain ? command(parts) : withInput(command(parts), pretty(params));
}

/** Null: `--param` would parse it as something else. */
function paramWord(name: string, value: unknown): string | null {
  if (/[.=]/.test(name) || name === "") return null;
  if (typeof value === "number" || typeof value === "boolean") return `${name}=${JSON.stringify(value)}`;
  if (typeof value !== "string") return null;
  try {
    JSON.parse(value);
    return null;
  } catch {
    return `${name}=${value}`;
  }
}

/** Options for the document and the browser; null: not expressible. */
interface OptionWords {
  document: Words | null;
  browser: Words | null;
}

/** `orb crawl` has no options for them. */
const NO_WORDS: OptionWords = { document: null, browser: null };

/** Extraction and actions as options if possible, else as input of `--rules`. */
function readingWords(
  { fields, items, schema, extract, document, browser }: Json,
  optionWords: OptionWords,
): { words: Words; input: string | null } {
  const words = schema === undefined && extract === undefined ? wordsOf(fields, items) : null;
  const rules = Object.entries({
    ...(words === null ? { fields, items, schema, extract } : {}),
    ...(optionWords.document === null ? { document } : {}),
    ...(optionWords.browser === null ? { browser } : {}),
  }).filter(([, value]) => value !== undefined);
  const said = [...(words ?? []), ...(optionWords.document ?? []), ...(optionWords.browser ?? [])];
  if (rules.length === 0) return { words: said, input: null };
  return { words: [...said, "--rules -"], input: pretty(Object.fromEntries(rules)) };
}

function wordsOf(fields: unknown, items: unknown): Words | null {
  const itemsWord = items === undefined || items === null ? undefined : ruleWord(items as Json);
  const itemsPart = itemsWord === undefined ? [] : itemsWord === null ? null : [option("--items", itemsWord)];
  if (itemsPart === null) return null;
  if (fields === undefined || fields === null) return itemsPart;
  if (Array.isArray(fields)) {
    const isPlain = fields.every((name) => /^[^\s,]+$/.test(String(name)));
    return isPlain ? [...itemsPart, option("--fields", fields.join(","))] : null;
  }
  const all = Object.entries(fields as Json).map(([name, rule]) => fieldWord(name, rule as Json));
  return all.every((word) => word !== null) ? [...itemsPart, ...all.map((word) => option("--field", word))] : null;
}

const KINDS = /^(?:css|xpath|jsonpath|json-ld|next-data|nuxt-data|regex|known):/;

function fieldWord(name: string, { type, all, ...rule }: Json): string | null {
  if (!/^[^=:[\]\s]+$/.test(name) || name === "__proto__") return null;
  if (type !== undefined && !/^[a-z]+$/.test(String(type))) return null;
  const word = ruleWord(rule);
  if (word === null) return null;
  return `${name}${all === true ? "[]" : ""}${type === undefined ? "" : `:${String(type)}`}=${word}`;
}

/** One rule as `--field`; null: not expressible. */
function ruleWord(rule: Json): string | null {
  const { css, attr, xpath, jsonpath, from, regex, known, ...rest } = rule;
  const ways = [css, xpath, jsonpath, regex, known].filter((way) => way !== undefined);
  const [text] = ways;
  if (ways.length !== 1 || Object.keys(rest).length > 0 || typeof text !== "string") return null;
  if (text === "" || text !== text.trim()) return null;
  if (css !== undefined && from === undefined) {
    if (KINDS.test(text)) return null;
    if (attr === undefined) return /@[A-Za-z_][\w:.-]*$/.test(text) ? null : text;
    return /^[A-Za-z_][\w:.-]*$/.test(String(attr)) && !text.includes("@") ? `${text}@${String(attr)}` : null;
  }
  if (attr !== undefined) return null;
  if (jsonpath !== undefined) {
    if (from !== undefined && !["json-ld", "next-data", "nuxt-data"].includes(String(from))) return null;
    return `${from === undefined ? "jsonpath" : String(from)}:${text}`;
  }
  if (from !== undefined) return null;
  const way = xpath === undefined ? (regex === undefined ? "known" : "regex") : "xpath";
  return `${way}:${text}`;
}
