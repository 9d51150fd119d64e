import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { loadConfig } from "../../src/config/load.ts";
import { configRows } from "../../src/config/show.ts";

const ROLES = { APP_AUTH_ROLES: '{"admins":"admin","*":"viewer"}' };
const SECRET = "0815-of-the-client";
const TOKEN = { APP_API_TOKEN: "a-token-of-good-length-4711" };
const HEADER = {
  ...ROLES,
  ...TOKEN,
  APP_AUTH_HEADER: "Remote-User",
  APP_AUTH_GROUPS_HEADER: "Remote-Groups",
  APP_AUTH_PROXIES: "10.0.0.5, 172.18.0.0/16,::1",
};
const PROVIDER = {
  ...ROLES,
  ...TOKEN,
  APP_OIDC_ISSUER: "https://login.example.com/realms/main",
  APP_OIDC_CLIENT_ID: "orb",
  APP_OIDC_CLIENT_SECRET: SECRET,
  APP_PUBLIC_URL: "https://orb.example.com",
};

const load = (env: Record<string, string>) => loadConfig({ env, cwd: "/nowhere" });

/** The options that are refused, each with the reason. */
function refused(env: Record<string, string>): Record<string, string> {
  try {
    load(env);
  } catch (error) {
    assert.ok(isOrbError(error, "config_invalid"), String(error));
    return Object.fromEntries(error.fields.map(({ path, message }) => [path, message]));
  }
  return {};
}

function isRefused(env: Record<string, string>, path: string, why: RegExp): void {
  const found = refused(env);
  assert.deepEqual(Object.keys(found), [path], JSON.stringify(env));
  assert.match(found[path] ?? "", why);
}

test("settings of a proxy and of a provider are read, and secrets are not shown", () => {
  const { config } = load({ ...HEADER, ...PROVIDER, APP_OIDC_SCOPES: "openid, groups  email" });
  assert.equal(config.authHeader, "remote-user");
  assert.deepEqual(config.authProxies, ["10.0.0.5/32", "172.18.0.0/16", "::1/128"]);
  assert.deepEqual(config.authRoles, { admins: "admin", "*": "viewer" });
  assert.deepEqual([config.oidcSessionMs, config.oidcScopes], [8 * 3_600_000, "openid groups email"]);
  assert.equal(config.oidcClientSecret, SECRET);
  assert.ok(!JSON.stringify(configRows({ config })).includes(SECRET));
});

test("a header without proxies, or for too many, is refused", () => {
  const { APP_AUTH_PROXIES: _, ...open } = HEADER;
  isRefused(open, "APP_AUTH_PROXIES", /because anybody else could send that header; got none/);
  for (const all of ["0.0.0.0/0", "::/0", "10.0.0.0/8,128.0.0.0/1"])
    isRefused({ ...HEADER, APP_AUTH_PROXIES: all }, "APP_AUTH_PROXIES", /too wide/);
  for (const none of ["proxy.example.com", "10.0.0.0/33", "10.0.0", "*"])
    isRefused({ ...HEADER, APP_AUTH_PROXIES: none }, "APP_AUTH_PROXIES", /expected a comma-separated list/);
});

test("proxies that a job could stand in for, because it may call this server, are refused", () => {
  const why = /a job could reach this server from/;
  const withTargets = (proxies: string, targets: string) => ({
    ...HEADER,
    APP_AUTH_PROXIES: proxies,
    APP_ALLOW_PRIVATE_NETWORKS: targets,
  });
  for (const [proxies, targets] of [
    ["127.0.0.1", "true"],
    ["127.0.0.1", "127.0.0.2/32"],
    ["::1", "10.0.0.0/8,::/64"],
    ["172.18.0.0/16", "true"],
    ["172.18.0.0/16", "172.16.0.0/12"],
    ["172.18.0.0/16", "172.18.4.0/24"],
  ] as const)
    isRefused(withTargets(proxies, targets), "APP_AUTH_PROXIES", why);
  for (const [proxies, targets] of [
    ["127.0.0.1,::1", "10.0.0.0/8"],
    ["172.18.0.5", "true"],
    ["172.18.0.0/16", "10.0.0.0/8,fd00::/8"],
  ] as const)
    assert.deepEqual(refused(withTargets(proxies, targets)), {});
});

test("a header that has another purpose, or is none, is refused", () => {
  for (const name of ["Authorization", "Cookie", "Host", "X-Forwarded-For", "User-Agent", "Sec-Fetch-User", "Origin"])
    isRefused({ ...HEADER, APP_AUTH_HEADER: name }, "APP_AUTH_HEADER", /another purpose/);
  for (const name of ["Remote_User", "Remote User", "-", "Remote-User:"])
    isRefused({ ...HEADER, APP_AUTH_HEADER: name }, "APP_AUTH_HEADER", /letters, digits and hyphens/);
  isRefused({ ...HEADER, APP_AUTH_GROUPS_HEADER: "remote-USER" }, "APP_AUTH_GROUPS_HEADER", /another header/);
  const { APP_AUTH_GROUPS_HEADER: _, ...groupless } = HEADER;
  isRefused(groupless, "APP_AUTH_GROUPS_HEADER", /names the group "admins"; got none/);
  assert.deepEqual(refused({ ...groupless, APP_AUTH_ROLES: '{"*":"operator"}' }), {});
});

test("roles that are missing, unknown or for everybody an admin's are refused", () => {
  const cases: [string, RegExp][] = [
    ['{"*":"admin"}', /would make everybody who can sign in an admin/],
    ['{"admins":"root"}', /the role of "admins" is not one of viewer, operator, admin/],
    ['{"__proto__":"admin"}', /is no group/],
    ["{}", /nobody/],
    ["admins=admin", /it is not JSON/],
    ['["admin"]', /a JSON object/],
  ];
  for (const [text, why] of cases) isRefused({ ...HEADER, APP_AUTH_ROLES: text }, "APP_AUTH_ROLES", why);
  const { APP_AUTH_ROLES: _, ...missing } = HEADER;
  isRefused(missing, "APP_AUTH_ROLES", /because APP_AUTH_HEADER is set; got none/);
});

test("people sign in where a token is set alone: without one everybody is an admin", () => {
  for (const { APP_API_TOKEN: _, ...tokenless } of [HEADER, PROVIDER])
    isRefused(tokenless, "APP_API_TOKEN", /without a token everybody who reaches this server is an admin/);
});

test("a provider needs a client, an address to send people back to, and TLS beyond this machine", () => {
  const { APP_OIDC_CLIENT_ID: _, ...clientless } = PROVIDER;
  isRefused(clientless, "APP_OIDC_CLIENT_ID", /got none/);
  const { APP_OIDC_ISSUER: __, ...issuerless } = PROVIDER;
  isRefused(issuerless, "APP_OIDC_ISSUER", /because APP_OIDC_CLIENT_ID is set/);
  const { APP_PUBLIC_URL: ___, ...placeless } = PROVIDER;
  isRefused(placeless, "APP_PUBLIC_URL", /sends them back/);
  isRefused({ ...PROVIDER, APP_PUBLIC_URL: "http://orb.example.com" }, "APP_PUBLIC_URL", /expected https/);
  isRefused({ ...PROVIDER, APP_PUBLIC_URL: "https://orb.example.com/?a" }, "APP_PUBLIC_URL", /without user, query/);
  isRefused({ ...PROVIDER, APP_OIDC_ISSUER: "http://login.example.com" }, "APP_OIDC_ISSUER", /expected https/);
  isRefused({ ...PROVIDER, APP_OIDC_ISSUER: "https://a:b@login.example.com" }, "APP_OIDC_ISSUER", /without user/);
  isRefused({ ...PROVIDER, APP_OIDC_SCOPES: "profile" }, "APP_OIDC_SCOPES", /openid is missing/);
  const local = { APP_OIDC_ISSUER: "http://127.0.0.1:9000", APP_PUBLIC_URL: "http://localhost:8000" };
  assert.deepEqual(refused({ ...PROVIDER, ...local }), {});
});
