/** HAR 1.2: what the developer tools of every browser save under "Save all as HAR". */
import { type FieldError, messageOf } from "../../base/errors.ts";
import type { Parsed } from "../../domain/lane/queue-item.ts";
import { InputReader } from "../../domain/text/input-reader.ts";
import type { Exchange } from "./exchange.ts";

interface HarReading {
  exchanges: Exchange[];
  /** Entries that are no exchange of data, or too large: by place, with the reason. */
  skipped: { entry: string; why: string }[];
}

export const HAR_LIMITS = {
  fileLength: 256 * 1024 * 1024,
  entries: 20_000,
  bodyLength: 5 * 1024 * 1024,
  errors: 20,
} as const;

/** Of a file's text, or of what it was parsed to. Mistakes are named by their entry: `log.entries[3].request.url`. */
export function readHar(source: string | object): Parsed<HarReading> {
  const errors: FieldError[] = [];
  const value = typeof source === "string" ? parse(source, errors) : source;
  if (errors.length > 0) return { errors };
  const file = new InputReader(value, "", errors, "a HAR file: an object with a log");
  if (errors.length === 0) file.require("log");
  const log = file.child("log", "an object: is this a HAR file?");
  if (log === undefined) return { errors };
  const entries = log.value("entries");
  if (!Array.isArray(entries)) {
    log.addError("entries", "expected a list: is this a HAR file?");
    return { errors };
  }
  if (entries.length > HAR_LIMITS.entries) {
    log.addError("entries", `has ${entries.length} entries, at most ${HAR_LIMITS.entries} are read`);
    return { errors };
  }
  const reading: HarReading = { exchanges: [], skipped: [] };
  for (const [index, entry] of entries.entries()) {
    const path = `log.entries[${index}]`;
    const read = readEntry(entry, path, errors);
    if (typeof read === "string") reading.skipped.push({ entry: path, why: read });
    else if (read !== null) reading.exchanges.push(read);
    if (errors.length >= HAR_LIMITS.errors) break;
  }
  return errors.length > 0 ? { errors } : { ok: reading };
}

function parse(text: string, errors: FieldError[]): unknown {
  if (text.length > HAR_LIMITS.fileLength) {
    errors.push({ path: "", message: `the file is longer than ${HAR_LIMITS.fileLength} characters` });
    return undefined;
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    errors.push({ path: "", message: `not a HAR file, because it is not JSON: ${messageOf(error)}` });
    return undefined;
  }
}

/** A text says why the entry is left out; null, that it is wrong. */
function readEntry(value: unknown, path: string, errors: FieldError[]): Exchange | string | null {
  const before = errors.length;
  const entry = new InputReader(value, path, errors, "an object");
  if (errors.length > before) return null;
  const request = entry.child("request");
  const response = entry.child("response");
  entry.require("request");
  entry.require("response");
  if (request === undefined || response === undefined) return null;
  const method = request.text("method", { empty: false });
  const url = request.text("url", { empty: false });
  const status = response.value("status");
  request.require("method");
  request.require("url");
  if (typeof status !== "number") response.addError("status", "expected a number");
  if (errors.length > before || method === undefined || url === undefined || typeof status !== "number") return null;
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return "not fetched over http";
  if (status < 100) return "there was no response";
  const posted = bodyOf(request.value("postData"), "text");
  const answered = bodyOf(response.value("content"), "text");
  const headers = headersOf(response.value("headers"));
  if ((posted?.length ?? 0) > HAR_LIMITS.bodyLength) return "the request body is too large";
  if (answered === null) return "the response body was not saved";
  if (answered.length > HAR_LIMITS.bodyLength) return "the response body is too large";
  return {
    request: { method: method.toUpperCase(), url, headers: headersOf(request.value("headers")), body: posted },
    response: {
      status,
      headers,
      contentType: headers["content-type"] ?? textAt(response.value("content"), "mimeType"),
      body: answered,
    },
  };
}

function headersOf(value: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of Array.isArray(value) ? (value as unknown[]) : []) {
    const name = textAt(pair, "name")?.toLowerCase() ?? "";
    const text = textAt(pair, "value");
    // HTTP/2's own names (:path) are no headers.
    if (name === "" || name.startsWith(":") || name === "__proto__" || text === null) continue;
    headers[name] = headers[name] === undefined ? text : `${headers[name]}, ${text}`;
  }
  return headers;
}

function bodyOf(value: unknown, key: string): string | null {
  const text = textAt(value, key);
  if (text === null || textAt(value, "encoding") !== "base64") return text;
  return Buffer.from(text, "base64").toString("utf8");
}

function textAt(value: unknown, key: string): string | null {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return null;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === "string" ? found : null;
}
