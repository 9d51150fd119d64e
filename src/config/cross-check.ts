/** Rules between options. A value rejected on its own is undefined here and not reported twice. */
import type { FieldError } from "../base/errors.ts";
import { ACCESS_RULES } from "./access-rules.ts";
import { isLoopback } from "./loopback.ts";
import { type Config, OPTIONS } from "./options.ts";

type Rule = (config: Partial<Config>) => FieldError | undefined;

const RULES: readonly Rule[] = [
  ({ heartbeatMs, leaseTtlMs }) => {
    // Two renewals may be lost before the lease expires.
    if (typeof heartbeatMs !== "number" || leaseTtlMs === undefined || heartbeatMs * 3 <= leaseTtlMs) return undefined;
    return {
      path: OPTIONS.heartbeatMs.name,
      message: `expected at most a third of ${OPTIONS.leaseTtlMs.name} (${leaseTtlMs / 1000}), got ${heartbeatMs / 1000}`,
    };
  },
  ({ retryBaseMs, retryMaxMs }) => {
    if (retryBaseMs === undefined || retryMaxMs === undefined || retryMaxMs >= retryBaseMs) return undefined;
    return {
      path: OPTIONS.retryMaxMs.name,
      message: `expected at least ${OPTIONS.retryBaseMs.name} (${retryBaseMs / 1000}), got ${retryMaxMs / 1000}`,
    };
  },
  ({ host, apiToken }) => {
    if (host === undefined || apiToken !== null || isLoopback(host)) return undefined;
    return {
      path: OPTIONS.apiToken.name,
      message: `expected a token, because ${OPTIONS.host.name}=${host} is reachable from other machines; got none`,
    };
  },
  ({ redisUrl, database, managedServices }) => {
    if (typeof redisUrl !== "string" || database === undefined || database.kind !== "sqlite") return undefined;
    // Then it is the URL of the managed one.
    if (managedServices === undefined || managedServices?.includes("redis") === true) return undefined;
    return {
      path: OPTIONS.redisUrl.name,
      message: `expected none, because ${OPTIONS.database.name} is SQLite, which does not use Redis: remove it, set ${OPTIONS.database.name} to postgres://…, or add redis to ${OPTIONS.managedServices.name}`,
    };
  },
  ({ redisUrl, database, managedServices }) => {
    if (redisUrl !== null || database === undefined || database.kind === "sqlite") return undefined;
    if (managedServices === undefined || managedServices?.includes("redis") === true) return undefined;
    const what = database.kind === "postgres" ? `${OPTIONS.database.name} is` : `${OPTIONS.managedServices.name} names`;
    return {
      path: OPTIONS.redisUrl.name,
      message: `expected redis://…, because ${what} Postgres, and its processes distribute work through Redis; got none. A single process can use ${OPTIONS.database.name}=sqlite:PATH`,
    };
  },
  ({ browserUrl, browserProxyHost, browserTrusted }) => {
    if (!Array.isArray(browserUrl) || browserProxyHost !== null || browserTrusted !== false) return undefined;
    const far = browserUrl.filter((one) => one !== "local").map((one) => new URL(one).hostname.replace(/^\[|\]$/g, ""));
    const host = far.find((one) => !isLoopback(one));
    if (host === undefined) return undefined;
    return {
      path: OPTIONS.browserProxyHost.name,
      message: `expected the address at which the browser on ${host} (${OPTIONS.browserUrl.name}) reaches this machine; got none. If its pages may connect without the network guard, set ${OPTIONS.browserTrusted.name}=true`,
    };
  },
  ({ ocrCommand, ocrUrl }) => {
    if (typeof ocrCommand !== "string" || typeof ocrUrl !== "string") return undefined;
    return {
      path: OPTIONS.ocrUrl.name,
      message: `expected none, because ${OPTIONS.ocrCommand.name} is set as well; remove one of them`,
    };
  },
  (config) => {
    const { artifacts } = config;
    if (artifacts === undefined || artifacts.kind !== "s3") return undefined;
    const missing = (["s3AccessKeyId", "s3SecretAccessKey"] as const).find((key) => config[key] === null);
    if (missing === undefined) return undefined;
    return {
      path: OPTIONS[missing].name,
      message: `expected a key for the bucket of ${OPTIONS.artifacts.name}=s3://${artifacts.bucket}; got none`,
    };
  },
  ...ACCESS_RULES,
];

export function crossCheck(config: Partial<Config>): FieldError[] {
  return RULES.flatMap((rule) => rule(config) ?? []);
}
