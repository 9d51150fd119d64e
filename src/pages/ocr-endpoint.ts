/** Optical character recognition by a server of the user. */
import type { Clock } from "../base/clock.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { decodePercent } from "../domain/text/url.ts";
import { BufferSink } from "../net/buffer-sink.ts";
import type { HttpResult } from "../net/http.ts";
import { createHttpClient, type HttpClient } from "../net/http-client.ts";
import type { DocumentError } from "../documents/document.ts";
import { MAX_OCR_OUTPUT, type Ocr, ocrFailure } from "../documents/ocr.ts";

interface OcrEndpointOptions {
  /** May have a user name and a password. */
  url: string;
  timeoutMs: number;
  userAgent: string;
  clock: Clock;
}

const MAX_MESSAGE = 300;

export function ocrEndpoint(options: OcrEndpointOptions): Ocr {
  const { url, timeoutMs, userAgent, clock } = options;
  const { address, authorization } = addressOf(url);
  let client: HttpClient | null = null;
  /** The operator configures the URL: it may be in a private network, unlike targets. */
  const http = () =>
    (client ??= createHttpClient({
      policy: { privateNetworks: true, listed: [] },
      clock,
      userAgent,
      limits: {
        connectMs: Math.min(10_000, timeoutMs),
        headersMs: timeoutMs,
        idleMs: timeoutMs,
        totalMs: timeoutMs,
        maxBodyBytes: MAX_OCR_OUTPUT,
      },
    }));
  return {
    setting: "APP_OCR_URL",
    async recognise(bytes, signal) {
      const sink = new BufferSink();
      let result: HttpResult;
      try {
        result = await http().fetch(
          {
            url: address,
            method: "POST",
            headers: {
              accept: "application/pdf, text/plain;q=0.9",
              "content-type": "application/pdf",
              ...(authorization === null ? {} : { authorization }),
            },
            body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
            // The document and the password must not leave this URL.
            followRedirects: () => false,
            signal,
          },
          sink,
        );
      } catch (error) {
        signal.throwIfAborted();
        throw requestFailure(error, timeoutMs);
      }
      const body = sink.body();
      if (result.status !== 200) throw statusFailure(result, body);
      refuseOther(result, body);
      return body;
    },
    close: async () => client?.close(),
  };
}

function requestFailure(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof FetchFailure)) return error;
  const { code, reason } = error.failure;
  if (code === "cancelled") return error;
  if (code === "timeout")
    return ocrFailure(
      `APP_OCR_URL did not answer within ${Math.round(timeoutMs / 1000)} seconds (APP_OCR_TIMEOUT_SECONDS)`,
    );
  if (reason === "body_too_large" || reason === "decompression_limit") return ocrFailure("APP_OCR_URL sent too much");
  return ocrFailure(`APP_OCR_URL cannot be reached (${reason})`);
}

function statusFailure({ status, contentType }: HttpResult, body: Buffer): DocumentError {
  if (status >= 300 && status < 400)
    return ocrFailure(`APP_OCR_URL answered ${status}: redirects are not followed; set it to the final URL`);
  const isText = /^text\/plain|json/i.test(contentType ?? "");
  const said = isText ? body.subarray(0, MAX_MESSAGE).toString("utf8").replace(/\s+/g, " ").trim() : "";
  return ocrFailure(`APP_OCR_URL answered ${status}${said === "" ? "" : `: ${said}`}`);
}

/** A page or JSON would be read as the text of the document. */
function refuseOther({ contentType }: HttpResult, body: Buffer): void {
  if (body.subarray(0, 5).toString("latin1") === "%PDF-") return;
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "" || type === "text/plain" || type === "application/octet-stream") return;
  throw ocrFailure(`APP_OCR_URL answered ${type.slice(0, 100)}: expected a PDF or plain text`);
}

/** Moves a user name and password from the URL to the Authorization header. */
function addressOf(text: string): { address: string; authorization: string | null } {
  const url = new URL(text);
  const user = decodePercent(url.username);
  const password = decodePercent(url.password);
  url.username = "";
  url.password = "";
  const basic = user === "" && password === "" ? null : Buffer.from(`${user}:${password}`).toString("base64");
  return { address: url.href, authorization: basic === null ? null : `Basic ${basic}` };
}
