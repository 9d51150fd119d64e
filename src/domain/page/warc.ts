/** Records of web archives: WARC/1.1, ISO 28500:2017. Compressed one by one, they follow each other in a file. */
import { hash } from "node:crypto";
import type { Exchange, Header } from "./exchange.ts";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** WARC digests are base32; 20 bytes make 32 letters without padding. */
function digestOf(bytes: Uint8Array): string {
  const digest = hash("sha1", bytes, "buffer");
  let [text, value, bits] = ["sha1:", 0, 0];
  for (const byte of digest) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(value >> (bits - 5)) & 31];
  }
  return text;
}

interface WarcRecord {
  type: "warcinfo" | "request" | "response" | "resource" | "metadata";
  id: string;
  date: number;
  contentType: string;
  block: Uint8Array;
  more?: readonly Header[];
}

export function warcRecord({ type, id, date, contentType, block, more = [] }: WarcRecord): Buffer {
  const headers: Header[] = [
    ["WARC-Type", type],
    ["WARC-Record-ID", urn(id)],
    ["WARC-Date", new Date(date).toISOString()],
    ...more,
    ["WARC-Block-Digest", digestOf(block)],
    ["Content-Type", contentType],
    ["Content-Length", String(block.byteLength)],
  ];
  const head = `WARC/1.1\r\n${linesOf(headers)}\r\n`;
  return Buffer.concat([Buffer.from(head, "utf8"), block, Buffer.from("\r\n\r\n")]);
}

const urn = (id: string) => `<urn:uuid:${id}>`;

function linesOf(headers: readonly Header[]): string {
  return headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
}

/** Fields of a record about others, one per line. What would break a line is left out of a value. */
export function warcFields(fields: readonly Header[]): Buffer {
  return Buffer.from(linesOf(fields.map(([name, value]) => [name, value.replaceAll(/[\r\n]+/g, " ")])), "utf8");
}

/** Credentials are never archived. */
const NEVER_WRITTEN: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

/**
 * The records of one request and its response. `body` is decoded; null: not read, as for a redirect. Transfer headers keep
 * their values under `x-orig-`, as in other archivers.
 */
export function exchangeRecords(exchange: Exchange, body: Uint8Array | null, uuid: () => string): Buffer[] {
  const { url, at, method, status, statusText } = exchange;
  const [request, response] = [uuid(), uuid()];
  const target: Header = ["WARC-Target-URI", url];
  const { pathname, search } = new URL(url);
  const sent = exchange.sent.filter(([name]) => !NEVER_WRITTEN.has(name.toLowerCase()));
  const payload = body ?? new Uint8Array();
  const head = `HTTP/1.1 ${status} ${statusText}\r\n${linesOf(answerHeaders(exchange.headers, payload.byteLength))}\r\n`;
  const isCut = body === null && exchange.headers.some(([name, value]) => saysBody(name.toLowerCase(), value));
  return [
    warcRecord({
      type: "request",
      id: request,
      date: at,
      contentType: "application/http; msgtype=request",
      block: Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${linesOf(sent)}\r\n`, "latin1"),
      more: [target, ["WARC-Concurrent-To", urn(response)]],
    }),
    warcRecord({
      type: "response",
      id: response,
      date: at,
      contentType: "application/http; msgtype=response",
      block: Buffer.concat([Buffer.from(head, "latin1"), payload]),
      more: [
        target,
        ["WARC-Concurrent-To", urn(request)],
        ["WARC-Payload-Digest", digestOf(payload)],
        ...(isCut ? [["WARC-Truncated", "unspecified"] as const] : []),
      ],
    }),
  ];
}

function saysBody(name: string, value: string): boolean {
  return name === "transfer-encoding" || (name === "content-length" && value.trim() !== "0");
}

const TRANSFER_HEADERS: ReadonlySet<string> = new Set(["content-encoding", "transfer-encoding", "content-length"]);

function answerHeaders(headers: readonly Header[], length: number): Header[] {
  const kept = headers.map(([name, value]): Header => {
    const lower = name.toLowerCase();
    return TRANSFER_HEADERS.has(lower) && !(lower === "content-length" && value.trim() === String(length))
      ? [`x-orig-${lower}`, value]
      : [name, value];
  });
  const hasLength = kept.some(([name]) => name.toLowerCase() === "content-length");
  return hasLength ? kept : [...kept, ["content-length", String(length)]];
}

/** A page rendered by a browser: not what the server sent, so no response record. */
export function renderedRecords(
  page: { url: string; html: string; at: number; about: readonly Header[] },
  uuid: () => string,
): Buffer[] {
  const id = uuid();
  const block = Buffer.from(page.html, "utf8");
  const target: Header = ["WARC-Target-URI", page.url];
  return [
    warcRecord({
      type: "resource",
      id,
      date: page.at,
      contentType: "text/html; charset=utf-8",
      block,
      more: [target, ["WARC-Payload-Digest", digestOf(block)]],
    }),
    warcRecord({
      type: "metadata",
      id: uuid(),
      date: page.at,
      contentType: "application/warc-fields",
      block: warcFields(page.about),
      more: [target, ["WARC-Concurrent-To", urn(id)], ["WARC-Refers-To", urn(id)]],
    }),
  ];
}
