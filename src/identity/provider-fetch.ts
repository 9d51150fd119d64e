/** `fetch` for calls to the provider: with limits of time and size, and without redirects. */
import type { CustomFetch } from "openid-client";
import type { Clock } from "../base/clock.ts";
import { BufferSink } from "../net/buffer-sink.ts";
import { createHttpClient } from "../net/http-client.ts";

const MAX_BYTES = 1024 * 1024;
export const TIMEOUT_MS = 10_000;
/** Responses that must not have a body. */
const BODILESS = new Set([204, 205, 304]);

interface ProviderClient extends AsyncDisposable {
  fetch: CustomFetch;
}

export function openProviderClient({ clock, userAgent }: { clock: Clock; userAgent: string }): ProviderClient {
  const client = createHttpClient({
    // The operator configures the provider: it may be in a private network, unlike targets.
    policy: { privateNetworks: true, listed: [] },
    clock,
    userAgent,
    limits: {
      connectMs: TIMEOUT_MS,
      headersMs: TIMEOUT_MS,
      idleMs: TIMEOUT_MS,
      totalMs: TIMEOUT_MS,
      maxBodyBytes: MAX_BYTES,
    },
  });
  return {
    async fetch(url, { method, headers, body, signal }) {
      const sink = new BufferSink();
      const { "user-agent": _library, ...others } = headers;
      const result = await client.fetch(
        {
          url,
          method,
          headers: others,
          followRedirects: () => false,
          ...(body === undefined || body === null ? {} : { body: textOf(body) }),
          ...(signal === undefined ? {} : { signal }),
        },
        sink,
      );
      // A redirect that is not followed has no body either.
      const bytes = BODILESS.has(result.status) ? null : sink.body();
      return new Response(bytes === null ? null : new Uint8Array(bytes), {
        status: result.status,
        headers: result.headers,
      });
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function textOf(body: unknown): string {
  if (typeof body === "string" || body instanceof URLSearchParams) return String(body);
  throw new Error("calls to the provider have forms as bodies");
}
