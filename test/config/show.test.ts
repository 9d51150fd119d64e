import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config/load.ts";
import { withoutPassword } from "../../src/config/mask.ts";
import { CONFIG_KEYS, OPTIONS } from "../../src/config/options.ts";
import type { Option } from "../../src/config/option.ts";
import { configRows } from "../../src/config/show.ts";

const CWD = "/nowhere/at/all";

test("the list shows every option with its value, where it came from and what it is for", () => {
  const rows = configRows(loadConfig({ env: { APP_LEASE_TTL_SECONDS: "30.5" }, cwd: CWD }));
  assert.deepEqual(
    rows.map((row) => row.name),
    CONFIG_KEYS.map((key) => OPTIONS[key].name),
  );
  const row = (name: string) => rows.find((candidate) => candidate.name === name);
  assert.equal(row("APP_LEASE_TTL_SECONDS")?.value, "30.5");
  assert.equal(row("APP_LEASE_TTL_SECONDS")?.source, "environment");
  assert.equal(row("APP_HEARTBEAT_SECONDS")?.value, "7.625");
  assert.equal(row("APP_DATABASE_URL")?.value, `sqlite:${CWD}/data/orb.db`);
  assert.equal(row("APP_API_TOKEN")?.value, null);
  assert.ok(rows.every((candidate) => candidate.about.endsWith(".")));
});

test("secrets are masked, also passwords inside URLs", () => {
  const env = {
    APP_API_TOKEN: "hunter2-hunter2-hunter2",
    APP_SECRET_KEY: "hunter2-hunter2-hunter2",
    APP_WEBHOOK_SECRET: "hunter2-hunter2-hunter2",
    APP_LLM_KEY: "hunter2",
    APP_LLM_URL: "https://me:hunter2@llm.example/v1?key=hunter2",
    APP_ALERT_WEBHOOK_URL: "https://hooks.example/hunter2",
    APP_DATABASE_URL: "postgres://me:hunter2@db.example/orb",
    APP_REDIS_URL: "redis://:hunter2@cache.example",
    APP_BROWSER_URL: "wss://me:hunter2@a.example/?token=hunter2,http://me:hunter2@b.example:9222,local",
    APP_BROWSER_PROXY_HOST: "10.0.0.5",
  };
  const rows = configRows(loadConfig({ env, cwd: CWD }));
  assert.ok(!JSON.stringify(rows).includes("hunter2"));
  assert.equal(
    rows.find((row) => row.name === "APP_BROWSER_URL")?.value,
    "wss://me:********@a.example/?token=********,http://me:********@b.example:9222,local",
  );
  assert.equal(rows.find((row) => row.name === "APP_DATABASE_URL")?.value, "postgres://me:********@db.example/orb");
});

test("a password is hidden even when the URL is broken or the password holds URL characters", () => {
  for (const text of [
    "redis://a:pw@h",
    "redi//a:pw@h",
    "pw@h",
    "a:pw@h",
    "x://a:p@pw@h",
    "x://a:b?pw@h",
    "x://a:b/pw@h",
    "x://h/?k=pw",
  ]) {
    assert.ok(!withoutPassword(text).includes("pw"), `${text} became ${withoutPassword(text)}`);
  }
  assert.equal(withoutPassword("redis://localhost:6379/1"), "redis://localhost:6379/1");
});

test("browsers on other machines need the address of the guarding proxy, or are declared trusted", () => {
  const load = (env: Record<string, string>) => () => loadConfig({ env, cwd: CWD });
  const far = { APP_BROWSER_URL: "ws://127.0.0.1:9222,ws://:hunter2@10.0.0.7:9222" };
  assert.throws(load(far), (error: Error) => {
    assert.match(error.message, /APP_BROWSER_PROXY_HOST: expected the address at which the browser on 10\.0\.0\.7 /);
    return !error.message.includes("hunter2");
  });
  load({ ...far, APP_BROWSER_PROXY_HOST: "10.0.0.5" })();
  load({ ...far, APP_BROWSER_TRUSTED: "true" })();
  load({ APP_BROWSER_URL: "http://127.0.0.1:9222,http://[::1]:9222,local" })();
  assert.throws(load({ APP_BROWSER_URL: "local" }), /it names no remote browser/);
  assert.throws(load({ APP_BROWSER_URL: "ws://a:hun,hunter2@b" }), (error: Error) => !error.message.includes("hun,"));
});

test("what is shown of an option can be given back", () => {
  for (const key of CONFIG_KEYS) {
    const option = OPTIONS[key] as Option<unknown>;
    // Some examples are sentences, for want of a secret that one could show.
    const text = option.example.includes("`") || option.example.includes("…") ? "0123456789abcdef" : option.example;
    const value = option.type.parse(text, CWD);
    assert.deepEqual(option.type.parse(option.type.format(value as NonNullable<unknown>), CWD), value, option.name);
    if (option.default !== null) option.type.parse(option.default, CWD);
  }
});
