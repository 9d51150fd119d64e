import type { HttpLimits } from "../../src/net/http.ts";
import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { type Failure, FetchFailure } from "../../src/domain/run/failure.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { createHttpClient, type HttpClient, type HttpClientOptions } from "../../src/net/http-client.ts";

/** So tight that whatever goes wrong is over soon. */
export const LIMITS: Partial<HttpLimits> = {
  connectMs: 300,
  headersMs: 200,
  idleMs: 200,
  totalMs: 600,
  maxBodyBytes: 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
};

/** There is plenty of time for all that a test is not about, however busy the machine is. */
export const PLENTY: Partial<HttpLimits> = { connectMs: 60_000, headersMs: 60_000, idleMs: 60_000, totalMs: 60_000 };

export type TestClient = HttpClient & AsyncDisposable;

/** A client that may use the loopback network, closed at the end of its block. */
export function testClient(options: Partial<HttpClientOptions> = {}): TestClient {
  const client = createHttpClient({
    policy: parseAddressPolicy(true),
    clock: systemClock,
    userAgent: "orb-test",
    ...options,
  });
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}

/** The failure that a fetch ended with; a success is the test's failure. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FetchFailure) return error.failure;
    throw error;
  }
  assert.fail("the fetch succeeded");
}

export async function reasonOf(work: Promise<unknown>): Promise<string> {
  const { code, reason } = await failureOf(work);
  return `${code}/${reason}`;
}
