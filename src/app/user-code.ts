/** Loads a user's module, and provides what the engine does for it. */
import type { ArtifactStore } from "../artifacts/port.ts";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/options.ts";
import { classifyStatus } from "../domain/run/classify.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { parseRetryAfter } from "../domain/lane/retry-after.ts";
import { createHttpStrategy } from "../fetch/http/download.ts";
import type { HandlerServices } from "../lanes/handlers/user/services.ts";
import { UserCode } from "../lanes/handlers/user/user-code.ts";
import { BufferSink } from "../net/buffer-sink.ts";
import type { HttpClient } from "../net/http-client.ts";
import { downloadLimits } from "./page-tools.ts";

interface UserCodeParts {
  clock: Clock;
  http: HttpClient;
  artifacts: ArtifactStore;
}

/** Loads it in its own process and reports its errors; null: none configured. */
export async function loadUserCode(config: Config, parts: UserCodeParts): Promise<UserCode | null> {
  if (config.handlers === null) return null;
  return UserCode.load(config.handlers, { clock: parts.clock, services: servicesOf(config, parts) });
}

function servicesOf(config: Config, { clock, http, artifacts }: UserCodeParts): HandlerServices {
  const strategy = createHttpStrategy({ client: http, artifacts });
  return {
    fetch: async (url, { method, headers, body }, signal) => {
      const sink = new BufferSink();
      const request = {
        url,
        signal,
        ...(method === undefined ? {} : { method }),
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : Buffer.from(body) }),
      };
      const result = await http.fetch(request, sink);
      return { status: result.status, url: result.url, headers: result.headers, body: new Uint8Array(sink.body()) };
    },
    download: async (url, options, signal) => {
      const limits = downloadLimits(config);
      const answer = await strategy.fetch({ url, ...options, maxBodyBytes: config.maxBodyBytes, limits, signal });
      const { hash, size, status, contentType, finalUrl } = answer;
      const refused = classifyStatus(status, parseRetryAfter(answer.headers["retry-after"] ?? "", clock.now()));
      if (refused !== null) {
        const { reason, message, retryAfterMs } = refused;
        throw new FetchFailure(reason, message, {
          httpStatus: status,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        });
      }
      if (hash === null)
        throw new FetchFailure("http_unexpected", `the server answered ${status}`, { httpStatus: status });
      return { hash, size, contentType, url: finalUrl };
    },
    save: async (bytes, contentType, url) => {
      const writer = artifacts.writer();
      await writer.write(Buffer.from(bytes));
      const { hash, size } = await writer.finish();
      return { hash, size, contentType, url };
    },
  };
}
