import { Redis } from "ioredis";
import type { Clock } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";

const OLDEST = [6, 2] as const;
/** A connection without an answer for this long is dead; nothing blocks for longer than ten seconds. */
const SILENT_MS = 15_000;
const CONNECT_MS = 5000;
const SLOWEST_RETRY_MS = 2000;

/** Connects, for as long as it takes. Commands wait while Redis cannot be reached, and are then sent. */
export function redisAt(url: string): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENT_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), SLOWEST_RETRY_MS),
  });
  // Callers report their failures; this handler only keeps an error from ending the process.
  redis.on("error", () => {});
  return redis;
}

/** Throws when there is no Redis to be had in time, or none that tickets are safe in. */
export async function requireRedis(redis: Redis, clock: Clock, patienceMs: number): Promise<void> {
  await reached(redis, clock, patienceMs);
  // Asked for once more: a number that there is not would only be a line in the log, again and again.
  const { db = 0 } = redis.options;
  await redis.select(db).catch((error: Error) => {
    throw refusal(
      `Redis has no database ${db}: ${error.message}`,
      "End the address with a lower number, or with none.",
    );
  });
  const refused = refusalOf(await redis.info());
  if (refused !== null) throw refused;
}

/** The version of Redis; throws like `requireRedis`. Uses a separate connection: none that blocks. */
export async function probeRedis(url: string, clock: Clock, patienceMs: number): Promise<string> {
  const redis = redisAt(url);
  try {
    await requireRedis(redis, clock, patienceMs);
    return /^redis_version:(.*)$/m.exec(await redis.info("server"))?.[1]?.trim() ?? "of unknown version";
  } finally {
    redis.disconnect();
  }
}

/** Resolves when it answers; throws when there is none to be had in time. */
export function reached(redis: Redis, clock: Clock, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = "no answer";
    const noted = (error: Error) => {
      last = error.message;
      // Refused credentials will not be accepted a moment later.
      const closed = doorClosed(last, addressOf(redis));
      if (closed !== null) done(() => reject(closed));
    };
    const done = (end: () => void) => {
      timer.cancel();
      redis.off("error", noted);
      redis.off("ready", ready);
      end();
    };
    const ready = () => done(resolve);
    const late = () =>
      done(() =>
        reject(
          new OrbError("service_unavailable", `Redis at ${addressOf(redis)} cannot be used: ${last}`, {
            hint: adviceFor(last, redis),
            fields: [{ path: "APP_REDIS_URL", message: last }],
          }),
        ),
      );
    const timer = clock.after(patienceMs, late, { keepAlive: true });
    redis.on("error", noted);
    redis.on("ready", ready);
    if (redis.status === "ready") ready();
  });
}

/** A server that speaks TLS and one that does not understand nothing of each other, and do not say so. */
function adviceFor(reply: string, { options }: Redis): string {
  if (options.tls === undefined)
    return /ECONNRESET|EPIPE|closed/i.test(reply)
      ? "Something answers there and breaks off: if it speaks TLS alone, write rediss:// in APP_REDIS_URL."
      : "Start it, or correct APP_REDIS_URL.";
  return /certificate|self.signed|altname|issuer/i.test(reply)
    ? "Its certificate cannot be checked: NODE_EXTRA_CA_CERTS=FILE names who signed it, and the host in APP_REDIS_URL must be one that it is for."
    : "Start it, or correct APP_REDIS_URL: redis:// where it speaks no TLS.";
}

/** The error for a refused login; null: another reply. */
function doorClosed(reply: string, address: string): OrbError | null {
  const hint = "Put it into APP_REDIS_URL: redis://:PASSWORD@HOST:PORT, or redis://USER:PASSWORD@HOST:PORT";
  const refused = (message: string) =>
    new OrbError("service_unavailable", `Redis at ${address} ${message}`, {
      hint,
      fields: [{ path: "APP_REDIS_URL", message: reply }],
    });
  if (reply.startsWith("NOAUTH")) return refused("wants a password");
  return reply.startsWith("WRONGPASS") ? refused("does not take this user and password") : null;
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
  if (version !== "" && (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])))
    return refusal(`Redis ${version} is too old`, `Use Redis ${OLDEST.join(".")} or later.`);
  const policy = fields.get("maxmemory_policy") ?? "noeviction";
  if (policy !== "noeviction")
    return refusal(
      `Redis would drop keys when its memory is full (maxmemory-policy is ${policy})`,
      "Set it with `redis-cli config set maxmemory-policy noeviction`, and in redis.conf, so that it stays so.",
    );
  return null;
}

function refusal(message: string, hint: string): OrbError {
  return new OrbError("config_invalid", `APP_REDIS_URL: ${message}`, {
    hint,
    fields: [{ path: "APP_REDIS_URL", message }],
  });
}
