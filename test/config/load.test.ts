import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isOrbError, type OrbError } from "../../src/base/errors.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Config, CONFIG_KEYS, OPTIONS } from "../../src/config/options.ts";
import { tempDir } from "../support/temp-dir.ts";

const CWD = "/nowhere/at/all";
const load = (env: Record<string, string> = {}) => loadConfig({ env, cwd: CWD });
const valueOf = <K extends keyof Config>(key: K, text: string): Config[K] =>
  load({ [OPTIONS[key].name]: text }).config[key];

function refusal(env: Record<string, string>, cwd = CWD): OrbError {
  try {
    loadConfig({ env, cwd });
  } catch (error) {
    assert.ok(isOrbError(error, "config_invalid"), String(error));
    return error;
  }
  throw new assert.AssertionError({ message: `accepted ${JSON.stringify(env)}` });
}
const pathsOf = (error: OrbError) => error.fields.map((field) => field.path);

test("without any setting the documented defaults hold", () => {
  const { config, sources, warnings } = load();
  assert.deepEqual(config.database, { kind: "sqlite", path: `${CWD}/data/orb.db` });
  assert.equal(config.dataDir, `${CWD}/data`);
  assert.deepEqual(config.artifacts, { kind: "local", path: `${CWD}/data/artifacts` });
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.port, 8000);
  assert.equal(config.httpTimeoutMs, 20_000);
  assert.equal(config.retryBaseMs, 10_000);
  assert.equal(config.retryMaxMs, 300_000);
  assert.equal(config.leaseTtlMs, 60_000);
  assert.equal(config.heartbeatMs, 15_000);
  assert.equal(config.retentionMs, 86_400_000);
  assert.equal(config.maxWorkers, 32);
  assert.equal(config.maxPerHost, 10);
  assert.deepEqual(config.maxPerConcurrencyKey, {});
  assert.equal(config.allowPrivateNetworks, false);
  assert.equal(config.apiToken, null);
  assert.deepEqual(warnings, []);
  assert.ok(CONFIG_KEYS.every((key) => sources[key] === "default"));
});

test("every option of the contract is there", () => {
  const names =
    "DATABASE_URL REDIS_URL DATA_DIR HOST PORT API_TOKEN DEFAULT_MAX_ATTEMPTS HTTP_TIMEOUT_SECONDS " +
    "BROWSER_NAV_TIMEOUT_MS BROWSER_PATH BROWSER_MAX_PAGES RETRY_BASE_SECONDS RETRY_MAX_SECONDS MAX_WORKERS " +
    "MAX_PER_HOST MAX_PER_CONCURRENCY_KEY MAX_CONCURRENT_TASKS MIN_HOST_DELAY_MS LEASE_TTL_SECONDS HEARTBEAT_SECONDS " +
    "RETRY_AFTER_MAX_SECONDS SHUTDOWN_GRACE_SECONDS BREAKER_FAILURES BREAKER_COOLDOWN_SECONDS RETENTION_HOURS " +
    "MAX_BODY_BYTES MIN_PROXIES PROXY_WAIT_SECONDS PROXY_SHORTAGE PROXY_CHECK_URL PROXY_CHECK_TIMEOUT_SECONDS " +
    "PROXY_REFRESH_MINUTES PROXY_ROTATION RATE_LIMIT_MAX_WAITS MANAGED_SERVICES SECRET_KEY MIN_SCHEDULE_SECONDS " +
    "ALLOW_PRIVATE_NETWORKS HANDLERS ARTIFACTS_URL LLM_URL LLM_KEY LLM_MODEL LLM_TIMEOUT_SECONDS " +
    "LLM_CONCURRENCY LLM_MAX_INPUT_CHARS LLM_MAX_TOKENS ALERT_WEBHOOK_URL WEBHOOK_SECRET PUBLIC_URL NOTIFY_PRIVATE_NETWORKS RESPECT_ROBOTS " +
    "USER_AGENT LOG_LEVEL MAX_MEMORY_MB MIN_FREE_DISK_MB UP_WORKERS FILE_GROUP " +
    "AUTH_ROLES AUTH_HEADER AUTH_GROUPS_HEADER AUTH_PROXIES OIDC_ISSUER OIDC_CLIENT_ID OIDC_CLIENT_SECRET OIDC_NAME OIDC_SCOPES " +
    "OIDC_GROUPS_CLAIM OIDC_SESSION_HOURS KEEP_RUNS KEEP_DAYS ARCHIVE_AFTER_DAYS ARCHIVE_MIN_KB DISK_BUDGET_MB DISK_BUDGET_ACTION " +
    "S3_ENDPOINT S3_REGION S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY OCR_COMMAND OCR_URL OCR_TIMEOUT_SECONDS SEARCH_URL SEARCH_TIMEOUT_SECONDS AUDIT_KEEP_DAYS " +
    "LIVE_VIEWS LIVE_VIEW_IDLE_SECONDS LIVE_VIEW_MAX_SECONDS TRACED_TASKS_PER_SECOND " +
    "BROWSER_PROXY_HOST BROWSER_PROXY_LISTEN BROWSER_PROXY_PORT BROWSER_TRUSTED BROWSER_URL BROWSER_URL_PAGES";
  const telemetry =
    "SDK_DISABLED SERVICE_NAME RESOURCE_ATTRIBUTES TRACES_EXPORTER METRICS_EXPORTER METRIC_EXPORT_INTERVAL " +
    "TRACES_SAMPLER TRACES_SAMPLER_ARG EXPORTER_OTLP_ENDPOINT EXPORTER_OTLP_HEADERS EXPORTER_OTLP_PROTOCOL " +
    "EXPORTER_OTLP_COMPRESSION EXPORTER_OTLP_TIMEOUT";
  const named = (start: string, list: string) => list.split(" ").map((name) => `${start}_${name}`);
  assert.deepEqual(
    CONFIG_KEYS.map((key) => OPTIONS[key].name).sort(),
    [...named("APP", names), ...named("OTEL", telemetry)].sort(),
  );
});

test("the environment wins over .env, and both over the default", () => {
  using dir = tempDir();
  const cwd = dir.path;
  writeFileSync(
    join(cwd, ".env"),
    '\uFEFF# mine\nAPP_PORT=9001\nexport APP_MAX_WORKERS="7"\nAPP_MAX_PER_HOST=3 # few\n',
  );
  const { config, sources } = loadConfig({ env: { APP_PORT: "9002" }, cwd });
  assert.equal(config.port, 9002);
  assert.equal(sources.port, "environment");
  assert.equal(config.maxWorkers, 7);
  assert.equal(sources.maxWorkers, ".env");
  assert.equal(config.maxPerHost, 3);
  assert.equal(sources.host, "default");
});

test("an empty variable is an unset one", () => {
  using dir = tempDir();
  const cwd = dir.path;
  writeFileSync(join(cwd, ".env"), "APP_PORT=9001\n");
  const { config, sources } = loadConfig({ env: { APP_REDIS_URL: "", APP_PORT: "  ", APP_HOST: undefined }, cwd });
  assert.equal(config.redisUrl, null);
  assert.equal(config.port, 9001);
  assert.equal(sources.redisUrl, "default");
});

test("a .env that cannot be read is named", () => {
  using dir = tempDir();
  const cwd = dir.path;
  mkdirSync(join(cwd, ".env"));
  assert.deepEqual(pathsOf(refusal({}, cwd)), [".env"]);
});

test("every bad value is named in one error, with what was expected and what was given", () => {
  const error = refusal({
    APP_PORT: "http",
    APP_RESPECT_ROBOTS: "maybe",
    APP_MAX_BODY_BYTES: "20MB",
    APP_LOG_LEVEL: "loud",
  });
  assert.deepEqual(pathsOf(error), ["APP_PORT", "APP_MAX_BODY_BYTES", "APP_RESPECT_ROBOTS", "APP_LOG_LEVEL"]);
  const lines = error.message.split("\n");
  assert.equal(lines.length, 5);
  assert.match(lines[1] ?? "", /APP_PORT: expected a whole number from 0 to 65535.*got http/);
  assert.match(lines[3] ?? "", /expected true or false.*got maybe/);
});

test("secrets never appear in the error", () => {
  const error = refusal({
    APP_API_TOKEN: "hunter2",
    APP_REDIS_URL: "redi//me:hunter2@cache",
    APP_DATABASE_URL: "mysql://me:hunter2@db/x?password=hunter2",
    APP_LLM_KEY: "hunter2 hunter2",
  });
  assert.equal(error.fields.length, 4);
  assert.ok(!JSON.stringify([error.message, error.fields]).includes("hunter2"), error.message);
});

test("an unknown APP_ variable is a warning with what was probably meant", () => {
  using dir = tempDir();
  const cwd = dir.path;
  writeFileSync(join(cwd, ".env"), "APP_LEASE_TTL=3\n");
  const { warnings } = loadConfig({ env: { APP_MAX_WORKER: "3", APP_SOMETHING_ELSE_ENTIRELY: "x", OTHER: "y" }, cwd });
  assert.equal(warnings.length, 3);
  assert.match(warnings[0] ?? "", /APP_LEASE_TTL in \.env/);
  assert.match(warnings[1] ?? "", /APP_MAX_WORKER is not an option.*did you mean APP_MAX_WORKERS\?/);
  assert.doesNotMatch(warnings[2] ?? "", /did you mean/);
});

test("the configuration cannot be changed afterwards, at any depth", () => {
  const { config } = load({ APP_MAX_PER_CONCURRENCY_KEY: '{"a":1}', APP_ALLOW_PRIVATE_NETWORKS: "10.0.0.0/8" });
  for (const part of [config, config.database, config.maxPerConcurrencyKey, config.allowPrivateNetworks]) {
    assert.ok(Object.isFrozen(part));
  }
});

test("seconds take fractions and become milliseconds", () => {
  assert.equal(valueOf("httpTimeoutMs", "0.25"), 250);
  assert.equal(valueOf("shutdownGraceMs", ".5"), 500);
  assert.equal(valueOf("retentionMs", "0.5"), 1_800_000);
  for (const text of ["1e3", "-1", "Infinity", "0x10", "1,5", "5s", "NaN"]) {
    assert.deepEqual(pathsOf(refusal({ APP_HTTP_TIMEOUT_SECONDS: text })), ["APP_HTTP_TIMEOUT_SECONDS"], text);
  }
});

test("booleans are written in six ways", () => {
  for (const text of ["true", "1", "yes", "TRUE"]) assert.equal(valueOf("respectRobots", text), true, text);
  for (const text of ["false", "0", "no", "No"]) assert.equal(valueOf("respectRobots", text), false, text);
});

test("a database is a file or Postgres", () => {
  assert.deepEqual(valueOf("database", "sqlite:x.db"), { kind: "sqlite", path: `${CWD}/x.db` });
  assert.deepEqual(valueOf("database", "sqlite:/var/x.db"), { kind: "sqlite", path: "/var/x.db" });
  assert.deepEqual(valueOf("database", "sqlite:///var/x.db"), { kind: "sqlite", path: "/var/x.db" });
  const postgres = load({ APP_DATABASE_URL: "postgres://u:p@h/d", APP_REDIS_URL: "redis://h" }).config.database;
  assert.deepEqual(postgres, { kind: "postgres", url: "postgres://u:p@h/d" });
  for (const text of ["sqlite:", "sqlite:data/", "sqlite://x.db", "sqlite:x.db?mode=ro", "x.db", "postgres:x"]) {
    assert.deepEqual(pathsOf(refusal({ APP_DATABASE_URL: text })), ["APP_DATABASE_URL"], text);
  }
  assert.match(refusal({ APP_DATABASE_URL: "sqlite::memory:" }).message, /lost with the process/);
});

test("private networks are all, none, or a list of CIDRs", () => {
  assert.equal(valueOf("allowPrivateNetworks", "yes"), true);
  assert.deepEqual(valueOf("allowPrivateNetworks", "10.0.0.0/8, ::1,fd00::/8"), ["10.0.0.0/8", "::1/128", "fd00::/8"]);
  for (const text of ["10.0.0.0/33", "10.0.0/8", "localhost", "::/129", "10.0.0.0/8/8", ",", "10.0.0.0/-1"]) {
    assert.deepEqual(pathsOf(refusal({ APP_ALLOW_PRIVATE_NETWORKS: text })), ["APP_ALLOW_PRIVATE_NETWORKS"], text);
  }
});

test("the older name of a variable is read, too; two that differ are refused by both names", () => {
  const [name, alias] = ["APP_MAX_PER_CONCURRENCY_KEY", "APP_MAX_PER_RESOLVER"];
  const old = load({ [alias]: '{"a":1}' });
  assert.deepEqual([old.config.maxPerConcurrencyKey, old.sources.maxPerConcurrencyKey], [{ a: 1 }, "environment"]);
  assert.deepEqual(old.warnings, []);
  const same = load({ [name]: '{"a":1,"b":2}', [alias]: '{"b":2, "a":1}' });
  assert.deepEqual(same.config.maxPerConcurrencyKey, { a: 1, b: 2 });
  assert.deepEqual(load({ [name]: " ", [alias]: '{"a":1}' }).config.maxPerConcurrencyKey, { a: 1 }, "empty is unset");
  const differing = refusal({ [name]: '{"a":1}', [alias]: '{"a":2}' });
  assert.deepEqual(pathsOf(differing), [name]);
  assert.match(differing.message, /APP_MAX_PER_CONCURRENCY_KEY: differs from its alias APP_MAX_PER_RESOLVER/);
  assert.deepEqual(pathsOf(refusal({ [alias]: "3" })), [alias], "the one that was set is named");
});

test("the environment wins over .env, also by the older name of a variable", () => {
  using dir = tempDir();
  const cwd = dir.path;
  writeFileSync(join(cwd, ".env"), 'APP_MAX_PER_CONCURRENCY_KEY={"a":1}\n');
  const { config, sources } = loadConfig({ env: { APP_MAX_PER_RESOLVER: '{"a":2}' }, cwd });
  assert.deepEqual([config.maxPerConcurrencyKey, sources.maxPerConcurrencyKey], [{ a: 2 }, "environment"]);
});

test("limits per concurrency key are an object of whole numbers above 0", () => {
  assert.deepEqual(valueOf("maxPerConcurrencyKey", '{"unpaywall":2,"crossref":3}'), { unpaywall: 2, crossref: 3 });
  assert.deepEqual(valueOf("maxPerConcurrencyKey", '{"*":4}'), { "*": 4 });
  for (const text of ["{", "[]", "3", '{"a":0}', '{"a":1.5}', '{"a":"2"}', '{"a b":1}', '{"__proto__":1}']) {
    assert.deepEqual(pathsOf(refusal({ APP_MAX_PER_CONCURRENCY_KEY: text })), ["APP_MAX_PER_CONCURRENCY_KEY"], text);
  }
});

test("paths start from the working directory", () => {
  assert.equal(valueOf("handlers", "./my/handlers.ts"), `${CWD}/my/handlers.ts`);
  assert.deepEqual(valueOf("artifacts", "files"), { kind: "local", path: `${CWD}/files` });
});

test("a bucket has an address, a region and a key that is shown nowhere", () => {
  const key = { APP_S3_ACCESS_KEY_ID: "AKIA-hunter2", APP_S3_SECRET_ACCESS_KEY: "hunter2-secret" };
  const bucket = { APP_ARTIFACTS_URL: "s3://my-bucket/a/b/", ...key };
  const { config } = load(bucket);
  assert.deepEqual(config.artifacts, { kind: "s3", bucket: "my-bucket", prefix: "a/b" });
  assert.equal(config.s3Endpoint, "https://s3.us-east-1.amazonaws.com");
  assert.equal(load({ ...bucket, APP_S3_REGION: "eu-west-1" }).config.s3Endpoint, "https://s3.eu-west-1.amazonaws.com");
  assert.equal(load({ ...bucket, APP_S3_ENDPOINT: "http://minio:9000/" }).config.s3Endpoint, "http://minio:9000");
  for (const text of ["minio:9000", "http://minio/bucket", "http://a:b@minio", "s3://minio", "http://minio?x=1"])
    assert.deepEqual(pathsOf(refusal({ ...bucket, APP_S3_ENDPOINT: text })), ["APP_S3_ENDPOINT"], text);
  for (const name of Object.keys(key)) {
    const refused = refusal({ ...bucket, [name]: "" });
    assert.deepEqual(pathsOf(refused), [name]);
    assert.ok(!refused.message.includes("hunter2"), refused.message);
  }
  assert.ok(!refusal({ ...bucket, APP_S3_SECRET_ACCESS_KEY: "hunter2 with a space" }).message.includes("hunter2"));
});

test("a heartbeat is a quarter of the lease, and at most a third", () => {
  assert.equal(load({ APP_LEASE_TTL_SECONDS: "6" }).config.heartbeatMs, 1500);
  assert.equal(load({ APP_LEASE_TTL_SECONDS: "6", APP_HEARTBEAT_SECONDS: "2" }).config.heartbeatMs, 2000);
  assert.deepEqual(pathsOf(refusal({ APP_LEASE_TTL_SECONDS: "6", APP_HEARTBEAT_SECONDS: "2.1" })), [
    "APP_HEARTBEAT_SECONDS",
  ]);
  assert.deepEqual(pathsOf(refusal({ APP_LEASE_TTL_SECONDS: "4.9" })), ["APP_LEASE_TTL_SECONDS"]);
});

test("the longest retry wait is not below the first", () => {
  assert.deepEqual(pathsOf(refusal({ APP_RETRY_BASE_SECONDS: "20", APP_RETRY_MAX_SECONDS: "10" })), [
    "APP_RETRY_MAX_SECONDS",
  ]);
  assert.equal(load({ APP_RETRY_BASE_SECONDS: "0", APP_RETRY_MAX_SECONDS: "0" }).config.retryMaxMs, 0);
});

test("scanned documents are read by a program or by a server, not by both", () => {
  const both = { APP_OCR_COMMAND: "ocrmypdf - -", APP_OCR_URL: "http://me:hunter2@ocr.internal/" };
  assert.deepEqual(pathsOf(refusal(both)), ["APP_OCR_URL"]);
  assert.doesNotMatch(refusal(both).message, /hunter2/);
  assert.equal(load({ APP_OCR_URL: both.APP_OCR_URL }).config.ocrUrl, both.APP_OCR_URL);
});

test("only loopback can be listened on without a token, and a weak token is none", () => {
  for (const host of ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"]) load({ APP_HOST: host });
  for (const host of ["0.0.0.0", "::", "192.168.0.1", "example.com", "127.evil.example"]) {
    assert.deepEqual(pathsOf(refusal({ APP_HOST: host })), ["APP_API_TOKEN"], host);
    load({ APP_HOST: host, APP_API_TOKEN: "0123456789abcdef" });
  }
  for (const token of ["0123456789abcde", "a".repeat(40), "with a space in it, long"]) {
    assert.deepEqual(pathsOf(refusal({ APP_API_TOKEN: token })), ["APP_API_TOKEN"], token);
  }
  assert.deepEqual(pathsOf(refusal({ APP_HOST: "127.0.0.256" })), ["APP_HOST"]);
});

test("Redis goes with Postgres, or is managed", () => {
  assert.deepEqual(pathsOf(refusal({ APP_REDIS_URL: "redis://localhost" })), ["APP_REDIS_URL"]);
  load({ APP_REDIS_URL: "redis://localhost", APP_DATABASE_URL: "postgres://localhost/orb" });
  load({ APP_REDIS_URL: "redis://localhost", APP_MANAGED_SERVICES: "redis" });
  for (const env of [{ APP_DATABASE_URL: "postgres://localhost/orb" }, { APP_MANAGED_SERVICES: "postgres" }]) {
    const error = refusal(env);
    assert.deepEqual(pathsOf(error), ["APP_REDIS_URL"]);
    assert.match(error.message, /APP_DATABASE_URL/, "both are named");
  }
  assert.deepEqual(load({ APP_MANAGED_SERVICES: "redis,postgres" }).config.database, { kind: "managed" });
  const onSqlite = { APP_MANAGED_SERVICES: "redis,postgres", APP_DATABASE_URL: "sqlite:orb.db" };
  assert.equal(load(onSqlite).config.database.kind, "sqlite");
});

test("addresses with a slip in them are refused with what to do", () => {
  const withRedis = (redis: string) => ({ APP_DATABASE_URL: "postgres://localhost/orb", APP_REDIS_URL: redis });
  assert.match(refusal(withRedis("redis://localhost/second")).message, /not a database number/);
  assert.match(refusal(withRedis("redis://:a/b@localhost")).message, /%2F/);
  load(withRedis("rediss://u:p@localhost:6380/3"));
  assert.match(refusal({ APP_DATABASE_URL: "postgres://orb:a/b@localhost/orb" }).message, /%2F/);
  for (const text of ["s3:/bucket/prefix", "S3://bucket/prefix"])
    assert.deepEqual(pathsOf(refusal({ APP_ARTIFACTS_URL: text })), ["APP_ARTIFACTS_URL"]);
});
