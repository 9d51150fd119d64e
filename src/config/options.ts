/**
 * Every option of the product, one entry each. The loader, `orb config`, the error messages and docs/configuration.md
 * all read this table: a new option is one new entry.
 */
import { LOG_LEVELS } from "../base/log.ts";
import { PROXY_ROTATIONS } from "../domain/proxy/proxy-rotation.ts";
import { ACCESS_OPTIONS } from "./access-options.ts";
import { BROWSER_OPTIONS } from "./browser-options.ts";
import { BUCKET_OPTIONS } from "./bucket-options.ts";
import { DOCUMENT_OPTIONS } from "./document-options.ts";
import { LLM_OPTIONS } from "./llm-options.ts";
import { NOTIFY_OPTIONS } from "./notify-options.ts";
import { SEARCH_OPTIONS } from "./search-options.ts";
import { RETENTION_OPTIONS } from "./retention-options.ts";
import { TELEMETRY_OPTIONS } from "./telemetry-options.ts";
import { derived, type Option, option, optional } from "./option.ts";
import * as type from "./types.ts";

const DAY = 86_400;

export const OPTIONS = {
  database: option({
    name: "APP_DATABASE_URL",
    type: type.database,
    default: "sqlite:./data/orb.db",
    about:
      "Database for runs, tasks and results: an SQLite file, or Postgres for several processes and machines (with `APP_REDIS_URL`). If it is not set and `APP_MANAGED_SERVICES` contains postgres, the managed Postgres is used.",
    example: "postgres://orb:secret@db.internal/orb",
    secret: "password",
  }),
  redisUrl: optional({
    name: "APP_REDIS_URL",
    type: type.redis,
    about:
      "Redis of the distributed engine; used with Postgres. With redis in `APP_MANAGED_SERVICES`: the address at which that Redis listens.",
    example: "redis://localhost:6379",
    secret: "password",
  }),
  dataDir: option({
    name: "APP_DATA_DIR",
    type: type.path,
    default: "./data",
    about: "Directory for artifacts, exports and logs. The location of the database is set by `APP_DATABASE_URL`.",
    example: "/var/lib/orb",
  }),
  fileGroup: optional({
    name: "APP_FILE_GROUP",
    type: type.group,
    about:
      "Group (name or number) that may also read the data directory, the database and the artifacts. Without it, only the owner may.",
    example: "www-data",
  }),
  host: option({
    name: "APP_HOST",
    type: type.host,
    default: "127.0.0.1",
    about: "Address the server listens on; anything but loopback needs APP_API_TOKEN.",
    example: "0.0.0.0",
  }),
  port: option({
    name: "APP_PORT",
    type: type.integer(0, 65_535),
    default: "8000",
    about: "Port the server listens on; 0: any free port.",
    example: "8080",
  }),
  apiToken: optional({
    name: "APP_API_TOKEN",
    type: type.strongSecret(16),
    about: "Bearer token for the API; required to listen on a non-loopback address.",
    example: "the output of `openssl rand -hex 32`",
    secret: "whole",
  }),
  ...ACCESS_OPTIONS,
  defaultMaxAttempts: option({
    name: "APP_DEFAULT_MAX_ATTEMPTS",
    type: type.integer(1, 1000),
    default: "3",
    about: "Maximum attempts per task.",
    example: "5",
  }),
  httpTimeoutMs: option({
    name: "APP_HTTP_TIMEOUT_SECONDS",
    type: type.duration("seconds", 0.05, 3600),
    default: "20",
    about: "Time limit for one HTTP fetch in total.",
    example: "7.5",
  }),
  ...BROWSER_OPTIONS,
  maxMemoryMb: optional({
    name: "APP_MAX_MEMORY_MB",
    type: type.integer(64, 10_000_000),
    otherwise: "no limit",
    about:
      "Memory limit of a process including its browsers. Above it, tasks run one at a time until usage is 10 % below the limit.",
    example: "4096",
  }),
  minFreeDiskMb: option({
    name: "APP_MIN_FREE_DISK_MB",
    type: type.integer(0, 1_000_000_000),
    default: "200",
    about:
      "Minimum free disk space. Below it, new work is rejected and running work pauses; 0: only when the disk is full.",
    example: "2000",
  }),
  retryBaseMs: option({
    name: "APP_RETRY_BASE_SECONDS",
    type: type.duration("seconds", 0, DAY),
    default: "10",
    about: "Wait before the second attempt; each further wait is three times as long.",
    example: "2.5",
  }),
  retryMaxMs: option({
    name: "APP_RETRY_MAX_SECONDS",
    type: type.duration("seconds", 0, 7 * DAY),
    default: "300",
    about: "Longest wait between two attempts; not below APP_RETRY_BASE_SECONDS.",
    example: "600",
  }),
  maxWorkers: option({
    name: "APP_MAX_WORKERS",
    type: type.integer(1, 10_000),
    default: "32",
    about: "Maximum tasks in flight per process.",
    example: "64",
  }),
  maxPerHost: option({
    name: "APP_MAX_PER_HOST",
    type: type.integer(1, 10_000),
    default: "10",
    about: "Maximum tasks in flight per site, on all machines together.",
    example: "2",
  }),
  maxPerConcurrencyKey: option({
    name: "APP_MAX_PER_CONCURRENCY_KEY",
    alias: "APP_MAX_PER_RESOLVER",
    type: type.limitsByName,
    default: "{}",
    about:
      "Maximum queue items in flight per concurrency key, on all sites and machines together. `*` applies to each key that is not listed; without it these have no limit.",
    example: '{"unpaywall":2,"*":10}',
  }),
  maxConcurrentTasks: option({
    name: "APP_MAX_CONCURRENT_TASKS",
    type: type.integer(1, 10_000),
    default: "5",
    about: "Maximum concurrent crawls; the others wait (`pending` in `/scraping`, `queued` in `/runs`).",
    example: "10",
  }),
  minHostDelayMs: option({
    name: "APP_MIN_HOST_DELAY_MS",
    type: type.integer(0, 3_600_000),
    default: "0",
    about:
      "Minimum time between the starts of two requests to one site, in milliseconds; a larger crawl-delay in robots.txt overrides it.",
    example: "500",
  }),
  leaseTtlMs: option({
    name: "APP_LEASE_TTL_SECONDS",
    type: type.duration("seconds", 5, DAY),
    default: "60",
    about: "Lease duration: how long a process that stopped responding keeps its work before others take it over.",
    example: "30",
  }),
  heartbeatMs: derived({
    name: "APP_HEARTBEAT_SECONDS",
    type: type.duration("seconds", 0.1, DAY),
    otherwise: "a quarter of `APP_LEASE_TTL_SECONDS`",
    about: "How often a process renews its leases; at most a third of APP_LEASE_TTL_SECONDS.",
    example: "10",
  }),
  retryAfterMaxMs: option({
    name: "APP_RETRY_AFTER_MAX_SECONDS",
    type: type.duration("seconds", 0, 30 * DAY),
    default: "3600",
    about: "Longest Retry-After that is honoured; a page with a longer one fails as `rate_limited`.",
    example: "600",
  }),
  shutdownGraceMs: option({
    name: "APP_SHUTDOWN_GRACE_SECONDS",
    type: type.duration("seconds", 0, 3600),
    default: "30",
    about: "How long tasks in flight may continue after SIGTERM or Ctrl-C before they are requeued.",
    example: "5",
  }),
  breakerFailures: option({
    name: "APP_BREAKER_FAILURES",
    type: type.integer(1, 10_000),
    default: "5",
    about: "Number of different pages that must fail in a row to open the circuit of a site.",
    example: "10",
  }),
  breakerCooldownMs: option({
    name: "APP_BREAKER_COOLDOWN_SECONDS",
    type: type.duration("seconds", 0, 7 * DAY),
    default: "300",
    about: "How long the circuit stays open before one request probes the site.",
    example: "60",
  }),
  retentionMs: option({
    name: "APP_RETENTION_HOURS",
    type: type.duration("hours", 0, 87_600),
    default: "24",
    about:
      "How long temporary runs are kept after their end: those of the Firecrawl API, crawls of agents (MCP), crawls started with `temporary`, and proxy checks. Other runs are not affected.",
    example: "168",
  }),
  ...RETENTION_OPTIONS,
  maxBodyBytes: option({
    name: "APP_MAX_BODY_BYTES",
    type: type.integer(1, 2_147_483_647),
    default: "20971520",
    about: "Largest response body, in bytes after decompression.",
    example: "5242880",
  }),
  ...DOCUMENT_OPTIONS,
  minProxies: option({
    name: "APP_MIN_PROXIES",
    type: type.integer(0, 1_000_000),
    default: "10",
    about:
      "Minimum usable proxies. A run with `proxy: pool` waits until there are so many; while there are fewer, all proxies are checked.",
    example: "25",
  }),
  proxyWaitMs: option({
    name: "APP_PROXY_WAIT_SECONDS",
    type: type.duration("seconds", 0, DAY),
    default: "300",
    about: "How long a run waits for APP_MIN_PROXIES before APP_PROXY_SHORTAGE applies.",
    example: "60",
  }),
  proxyShortage: option({
    name: "APP_PROXY_SHORTAGE",
    type: type.oneOf(["use_fewer", "fail"]),
    default: "use_fewer",
    about:
      "What happens to a run after APP_PROXY_WAIT_SECONDS: `use_fewer` continues with the usable proxies and fails if there are none; `fail` fails it.",
    example: "fail",
  }),
  proxyCheckUrl: optional({
    name: "APP_PROXY_CHECK_URL",
    type: type.url(["http", "https"]),
    about:
      "URL that a proxy check fetches through the proxy; without it, a check only tests whether the proxy is reachable.",
    example: "https://example.com/",
    secret: "password",
  }),
  proxyCheckTimeoutMs: option({
    name: "APP_PROXY_CHECK_TIMEOUT_SECONDS",
    type: type.duration("seconds", 0.1, 300),
    default: "10",
    about: "Time limit for the check of one proxy.",
    example: "5",
  }),
  proxyRefreshMs: option({
    name: "APP_PROXY_REFRESH_MINUTES",
    type: type.duration("minutes", 0, 10_080),
    default: "30",
    about: "How often all proxies are checked; 0: only on request, or when too few are usable.",
    example: "120",
  }),
  proxyRotation: option({
    name: "APP_PROXY_ROTATION",
    type: type.oneOf(PROXY_ROTATIONS),
    default: "round_robin",
    about:
      "Which proxy of the pool is next: each in turn, weighted by score; the least used one; or always the same one for a session and site.",
    example: "sticky",
  }),
  rateLimitMaxWaits: option({
    name: "APP_RATE_LIMIT_MAX_WAITS",
    type: type.integer(0, 1000),
    default: "5",
    about: "How often a page waits after a 429 or 503 response; after the next one it fails as `rate_limited`.",
    example: "10",
  }),
  managedServices: optional({
    name: "APP_MANAGED_SERVICES",
    type: type.listOf(["redis", "postgres"]),
    about: "Services that `orb up` starts and supervises: redis, postgres.",
    example: "redis,postgres",
  }),
  upWorkers: option({
    name: "APP_UP_WORKERS",
    type: type.integer(0, 64),
    default: "1",
    about:
      "Worker processes that `orb up` keeps running. On SQLite one is active and the others stand by; on Postgres all are active.",
    example: "2",
  }),
  secretKey: optional({
    name: "APP_SECRET_KEY",
    type: type.strongSecret(16),
    about: "Encrypts stored sessions and credentials.",
    example: "the output of `openssl rand -hex 32`",
    secret: "whole",
  }),
  allowPrivateNetworks: option({
    name: "APP_ALLOW_PRIVATE_NETWORKS",
    type: type.privateNetworks,
    default: "false",
    about: "Allows targets at loopback and private addresses: all, or those in a list of CIDRs.",
    example: "10.0.0.0/8,fd00::/8",
  }),
  handlers: optional({
    name: "APP_HANDLERS",
    type: type.path,
    about: "A module that registers step kinds, extractors and queue handlers.",
    example: "./handlers.ts",
  }),
  artifacts: derived({
    name: "APP_ARTIFACTS_URL",
    type: type.artifacts,
    otherwise: "`artifacts` in `APP_DATA_DIR`",
    about: "Where downloaded files are stored: a directory, or a bucket.",
    example: "s3://bucket/prefix",
  }),
  ...BUCKET_OPTIONS,
  ...LLM_OPTIONS,
  ...SEARCH_OPTIONS,
  ...TELEMETRY_OPTIONS,
  ...NOTIFY_OPTIONS,
  minScheduleMs: option({
    name: "APP_MIN_SCHEDULE_SECONDS",
    type: type.duration("seconds", 1, DAY),
    default: "60",
    about: "Minimum time between two runs of a schedule; a cron expression with shorter intervals is rejected.",
    example: "300",
  }),
  respectRobots: option({
    name: "APP_RESPECT_ROBOTS",
    type: type.boolean,
    default: "true",
    about: "Whether crawls obey robots.txt. Single pages and queue items ignore it unless `respect_robots` is set.",
    example: "false",
  }),
  userAgent: option({
    name: "APP_USER_AGENT",
    type: type.headerText,
    default: "Orbweaver/0.1 (+https://orbweaver.example/bot)",
    about: "User agent of every request. Include the URL of a page with your contact details for site owners.",
    example: "Orbweaver/0.1 (+https://example.com/about-our-crawler)",
  }),
  logLevel: option({
    name: "APP_LOG_LEVEL",
    type: type.oneOf(LOG_LEVELS),
    default: "info",
    about: "Minimum log level. The log is readable text on a terminal and JSON lines otherwise.",
    example: "debug",
  }),
} as const;

export type ConfigKey = keyof typeof OPTIONS;
type ValueOf<O> = O extends Option<infer T> ? T : never;
/** The configuration, typed, with paths resolved and spans in milliseconds. */
export type Config = { readonly [K in ConfigKey]: ValueOf<(typeof OPTIONS)[K]> };

export const CONFIG_KEYS = Object.keys(OPTIONS) as ConfigKey[];
