import assert from "node:assert/strict";
import { test } from "node:test";
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
