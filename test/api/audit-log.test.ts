import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { CHANNEL_KINDS } from "../../src/domain/notify/registry.ts";
import { openTestApi, TOKEN } from "./kit.ts";

const admin = { authorization: `Bearer ${TOKEN}` };

interface Entry {
  seq: number;
  action: string;
  actor: { kind: string; name: string };
  ip: string;
  object: { kind: string; id: string };
  changes: { path: string; before: unknown; after: unknown }[];
}

test("the audit log says who changed what, from where, before and after, and is read by filters and pages", async (t) => {
  const served = await openTestApi(t, { settings: { token: TOKEN } });
  const made = await served.send("POST", "/keys", { name: "=cmd()", role: "operator" }, admin);
  const { key } = made.json<{ key: string }>();
  const own = { authorization: `Bearer ${key}` };
  const body = { name: "a", target_url: "https://a.example/", fields: { title: "h1" }, headers: { "x-key": "s3cret" } };
  const { id } = (await served.send("POST", "/jobs", body, own)).json<{ id: string }>();
  await served.send("PATCH", `/jobs/${id}`, { name: "b", headers: { "x-key": "s3cret2" } }, own);
  await served.send("PATCH", "/sites/a.example", { max_concurrency: 2 }, admin);
  await served.send("POST", "/sites/a.example/reset-breaker", undefined, own);
  const read = async (query = "") => (await served.get(`/audit-log${query}`, admin)).json<Entry[]>();
  const all = await read();
  assert.deepEqual(
    all.map(({ action }) => action),
    ["site.breaker_reset", "site.updated", "job.updated", "job.created", "key.created"],
  );
  const [, , updated] = all;
  assert.deepEqual([updated?.actor.kind, updated?.actor.name, updated?.ip], ["key", "=cmd()", "127.0.0.1"]);
  assert.deepEqual(updated?.object, { kind: "job", id });
  assert.deepEqual(
    updated?.changes.find(({ path }) => path === "name"),
    { path: "name", before: "a", after: "b" },
  );
  assert.doesNotMatch(JSON.stringify(all), /s3cret/);

  assert.equal((await read("?action=job")).length, 2);
  assert.equal((await read(`?object_id=${id}&actor=${encodeURIComponent("=cmd()")}`)).length, 2);
  assert.equal((await read("?actor_kind=token")).length, 2);
  const first = await served.get("/audit-log?limit=2", admin);
  const next = /<([^>]+)>/.exec(String(first.headers["link"]))?.[1] ?? "";
  const second = (await served.get(next, admin)).json<Entry[]>();
  assert.deepEqual(
    second.map(({ seq }) => seq),
    all.slice(2, 4).map(({ seq }) => seq),
  );

  const lines = (await served.get("/audit-log?format=jsonl", admin)).text.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    all,
  );
  const csv = (await served.get("/audit-log?format=csv&action=job", admin)).text;
  assert.match(csv, /^seq,at,actor_kind,[^\r]+\r\n/);
  assert.match(csv, /,'=cmd\(\),/, "a formula is defused");
  assert.equal((await served.get("/audit-log?format=csv&limit=5", admin)).status, 422);
});

const SECRET = "s3cret-value-4711";

/** Settings of every kind, with all of its secrets. */
const SETTINGS: Readonly<Record<string, Record<string, unknown>>> = {
  apprise: { server: "https://apprise.example", urls: `slack://${SECRET}` },
  discord: { url: `https://discord.example/api/webhooks/1/${SECRET}` },
  email: { host: "smtp.example", user: "orb", password: SECRET, from: "orb@b.example", to: ["a@b.example"] },
  ntfy: { topic: "t", token: SECRET },
  slack: { url: `https://hooks.slack.example/services/${SECRET}` },
  teams: { url: `https://flow.example/workflows/${SECRET}` },
  telegram: { bot_token: `1:${SECRET}`, chat_id: "1" },
  webhook: { url: `https://hook.example/${SECRET}`, secret: SECRET },
};

for (const { kind, fields } of CHANNEL_KINDS)
  test(`the audit log has the settings of a channel of the kind ${kind}, and none of its secrets`, async (t) => {
    const settings = SETTINGS[kind] ?? assert.fail(`no settings of ${kind}`);
    const secrets = Object.entries(fields).flatMap(([name, { secret }]) => (secret === true ? [name] : []));
    assert.deepEqual(
      secrets.filter((name) => !(name in settings)),
      [],
      "every secret is set",
    );
    const served = await openTestApi(t, { settings: { token: TOKEN } });
    const made = await served.send("POST", "/notifications/channels", { name: "ops", kind, settings }, admin);
    assert.equal(made.status, 201, made.text);
    const path = `/notifications/channels/${made.json<{ id: string }>().id}`;
    const [first = ""] = secrets;
    const changed = { settings: { [first]: String(settings[first]).replace(SECRET, `${SECRET}-2`) } };
    const answer = await served.send("PATCH", path, changed, admin);
    assert.equal(answer.status, 200, answer.text);
    await served.call({ method: "DELETE", path, headers: admin });
    const { text } = await served.get("/audit-log", admin);
    assert.ok(!text.includes(SECRET), text);
    const log = JSON.parse(text) as Entry[];
    assert.deepEqual(
      log.map(({ action }) => action),
      ["channel.deleted", "channel.changed", "channel.created"],
    );
    assert.deepEqual(log[1]?.changes, [{ path: "secrets", before: "***", after: "***" }]);
    const shown = Object.keys(settings).find((name) => !secrets.includes(name));
    if (shown !== undefined) assert.ok(log[2]?.changes.some((one) => one.path === `settings.${shown}`));
  });

async function servedWithLog(t: TestContext) {
  const served = await openTestApi(t, { settings: { token: TOKEN } });
  const log = async (query = "") => (await served.get(`/audit-log${query}`, admin)).json<Entry[]>();
  return { served, log };
}

test("a channel that is tested by its name is in the audit log under its id", async (t) => {
  const { served, log } = await servedWithLog(t);
  const body = { name: "phone", kind: "ntfy", settings: { topic: "t" } };
  const { id } = (await served.send("POST", "/notifications/channels", body, admin)).json<{ id: string }>();
  const answer = await served.send("POST", "/notifications/channels/phone/test", undefined, admin);
  assert.equal(answer.status, 200, answer.text);
  const [entry] = await log("?action=channel.tested");
  assert.deepEqual(entry?.object, { kind: "channel", id });
});

test("changes in the audit log have the names and times of the API, and an empty list of cookies is none", async (t) => {
  const { served, log } = await servedWithLog(t);
  const expires_at = "2099-01-02T03:04:05.000Z";
  const key = { name: "ci", role: "viewer", expires_at };
  const { id } = (await served.send("POST", "/keys", key, admin)).json<{ id: string }>();
  await served.call({ method: "DELETE", path: `/keys/${id}`, headers: admin });
  const fields = { myTitle: "h1" };
  const job = { name: "a", target_url: "https://a.example/", fields, schedule: { cron: "0 3 * * *" } };
  const made = (await served.send("POST", "/jobs", job, admin)).json<{ id: string }>();
  const paused = await served.send("POST", `/schedules/${made.id}/pause`, undefined, admin);
  assert.equal(paused.status, 200, paused.text);
  await served.send("PATCH", "/sites/a.example", { max_concurrency: 2 }, admin);
  const changes = Object.fromEntries(
    (await log()).flatMap(({ action, changes: list }) =>
      list.map(({ path, after }) => [`${action} ${path}`, after] as const),
    ),
  );
  assert.equal(changes["key.created expires_at"], expires_at);
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
  assert.match(String(changes["key.revoked revoked_at"]), time);
  assert.match(String(changes["job.updated schedule_paused_at"]), time);
  assert.equal(changes["site.updated max_concurrency"], 2);
  assert.deepEqual(changes["job.created recipe.header_names"], []);
  assert.deepEqual(changes["job.created recipe.cookie_names"], []);
  assert.equal(changes["job.created auto_repair"], false);
  const paths = Object.keys(changes);
  assert.ok(
    paths.some((path) => path.includes("myTitle")),
    `names of the user's stay as they are: ${paths.join(", ")}`,
  );
});

test("a change of a key or a job that changes nothing has no entry", async (t) => {
  const { served, log } = await servedWithLog(t);
  const { id } = (await served.send("POST", "/keys", { name: "ci", role: "viewer" }, admin)).json<{ id: string }>();
  for (const body of [{}, { name: "ci" }])
    assert.equal((await served.send("PATCH", `/keys/${id}`, body, admin)).status, 200);
  const body = { name: "a", target_url: "https://a.example/", fields: { title: "h1" } };
  const job = (await served.send("POST", "/jobs", body, admin)).json<{ id: string }>();
  assert.equal((await served.send("PATCH", `/jobs/${job.id}`, { name: "a" }, admin)).status, 200);
  assert.deepEqual(
    (await log()).map(({ action }) => action),
    ["job.created", "key.created"],
  );
});
