import { Redis } from "ioredis";
import type { Clock } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";

const MIN_VERSION = [6, 2] as const;
/** A connection that is silent for this long is dead; no command blocks for longer than ten seconds. */
const SILENT_MS = 15_000;
const CONNECT_MS = 5000;
const MAX_RETRY_MS = 2000;

/** Connects and reconnects without a limit. Commands are queued while Redis is unreachable. */
export function redisAt(url: string): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENT_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), MAX_RETRY_MS),
  });
  // Callers report their failures; an unhandled "error" event would end the process.
  redis.on("error", () => {});
  return redis;
}

/** Throws when Redis cannot be reached in time, or is unsafe for tickets. */
export async function requireRedis(redis: Redis, clock: Clock, timeoutMs: number): Promise<void> {
  await reached(redis, clock, timeoutMs);
  // Explicitly, because ioredis would only log a database that does not exist, again and again.
  const { db = 0 } = redis.options;
  await redis.select(db).catch((error: Error) => {
    throw refusal(
      `Redis has no database ${db}: ${error.message}`,
      "Use a lower database number in APP_REDIS_URL, or none.",
    );
  });
  const refused = refusalOf(await redis.info());
  if (refused !== null) throw refused;
}

/** The version of Redis; throws like `requireRedis`. Uses a separate, non-blocking connection. */
export async function probeRedis(url: string, clock: Clock, timeoutMs: number): Promise<string> {
  const redis = redisAt(url);
  try {
    await requireRedis(redis, clock, timeoutMs);
    return /^redis_version:(.*)$/m.exec(await redis.info("server"))?.[1]?.trim() ?? "of unknown version";
  } finally {
    redis.disconnect();
  }
}

/** Resolves when Redis is ready; throws when it is not in time. */
export function reached(redis: Redis, clock: Clock, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = "no answer";
    const onError = (error: Error) => {
      last = error.message;
      // Refused credentials are not worth a retry.
      const closed = authError(last, addressOf(redis));
      if (closed !== null) done(() => reject(closed));
    };
    const done = (end: () => void) => {
      timer.cancel();
      redis.off("error", onError);
      redis.off("ready", onReady);
      end();
    };
    const onReady = () => done(resolve);
    const onTimeout = () =>
      done(() =>
        reject(
          new OrbError("service_unavailable", `Redis at ${addressOf(redis)} cannot be used: ${last}`, {
            hint: hintFor(last, redis),
            fields: [{ path: "APP_REDIS_URL", message: last }],
          }),
        ),
      );
    const timer = clock.after(timeoutMs, onTimeout, { keepAlive: true });
    redis.on("error", onError);
    redis.on("ready", onReady);
    if (redis.status === "ready") onReady();
  });
}

/** A TLS mismatch does not announce itself: the connection just breaks. */
function hintFor(reply: string, { options }: Redis): string {
  if (options.tls === undefined)
    return /ECONNRESET|EPIPE|closed/i.test(reply)
      ? "A server answers there, but closes the connection: if it requires TLS, use rediss:// in APP_REDIS_URL."
      : "Start it, or correct APP_REDIS_URL.";
  return /certificate|self.signed|altname|issuer/i.test(reply)
    ? "Its certificate cannot be verified: set NODE_EXTRA_CA_CERTS to a file with the CA certificate, and use a host name in APP_REDIS_URL for which the certificate is valid."
    : "Start it, or correct APP_REDIS_URL: use redis:// if it does not support TLS.";
}

/** The error for refused credentials; null: another reply. */
function authError(reply: string, address: string): OrbError | null {
  const hint = "Add it to APP_REDIS_URL: redis://:PASSWORD@HOST:PORT, or redis://USER:PASSWORD@HOST:PORT";
  const refused = (message: string) =>
    new OrbError("service_unavailable", `Redis at ${address} ${message}`, {
      hint,
      fields: [{ path: "APP_REDIS_URL", message: reply }],
    });
  if (reply.startsWith("NOAUTH")) return refused("requires a password");
  return reply.startsWith("WRONGPASS") ? refused("rejected the user name and password") : null;
}

function addressOf({ options }: Redis): string {
  return `${options.host ?? "127.0.0.1"}:${options.port ?? 6379}`;
}

/** Why this Redis cannot be used, by its INFO; null: it can. */
export function refusalOf(info: string): OrbError | null {
  const fields = new Map(
    info.split(/\r?\n/).map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
  const version = fields.get("redis_version") ?? "";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (version !== "" && (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])))
    return refusal(`Redis ${version} is too old`, `Use Redis ${MIN_VERSION.join(".")} or later.`);
  const policy = fields.get("maxmemory_policy") ?? "noeviction";
  if (policy !== "noeviction")
    return refusal(
      `Redis would evict keys when its memory is full (maxmemory-policy is ${policy})`,
      "Set it with `redis-cli config set maxmemory-policy noeviction`, and permanently in redis.conf.",
    );
  return null;
}

function refusal(message: string, hint: string): OrbError {
  return new OrbError("config_invalid", `APP_REDIS_URL: ${message}`, {
    hint,
    fields: [{ path: "APP_REDIS_URL", message }],
  });
}
