import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { encodeId } from "../../src/domain/run/ids.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate, MIGRATIONS, schemaVersion } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { openTestApi, TOKEN } from "./kit.ts";

/** The first version with keys. */
const WITH_KEYS = 30;
const admin = { authorization: `Bearer ${TOKEN}` };

test("an installation with APP_API_TOKEN from before there were keys goes on as it was [slow]", async (t) => {
  using folder = tempDir();
  const path = join(folder.path, "orb.db");
  const page = { name: "Prices", target_url: "https://a.example/", fields: { title: "h1" }, tags: ["shop"] };
  // What the version before stored of a job.
  const now = await openTestApi(t, { settings: { token: TOKEN } });
  const answer = await now.send("POST", "/jobs", page, admin);
  const { recipe } = (await now.store.job(answer.json<{ id: string }>().id)) ?? {};
  const old = new SqliteConnection(path);
  migrate(
    old,
    MIGRATIONS.filter(({ version }) => version < WITH_KEYS),
  );
  assert.equal(schemaVersion(old), WITH_KEYS - 1);
  const instance = String(old.db.prepare("SELECT value FROM meta WHERE name = 'instance'").get()?.["value"]);
  const id = encodeId(instance, "job", 1);
  old.db
    .prepare(
      `INSERT INTO jobs (n, id, name, kind, url, site, tags, recipe, created_at, updated_at)
       VALUES (1, ?, 'Prices', 'page', 'https://a.example/', 'a.example', '["shop"]', ?, 100, 100)`,
    )
    .run(id, JSON.stringify(recipe));
  old.close();

  const upgraded = openSqliteStore({ path, clock: systemClock });
  t.after(() => upgraded.close());
  const served = await openTestApi(t, { settings: { token: TOKEN }, store: () => upgraded });
  const me = (await served.get("/keys/me", admin)).json<{ kind: string; role: string }>();
  assert.deepEqual([me.kind, me.role], ["token", "admin"]);
  const jobs = (await served.get("/jobs", admin)).json<{ id: string; name: string; tags: string[] }[]>();
  assert.deepEqual(
    jobs.map((job) => [job.id, job.name, job.tags]),
    [[id, "Prices", ["shop"]]],
  );
  for (const none of ["/keys", "/audit-log"])
    assert.deepEqual((await served.get(none, admin)).json(), [], `${none} is empty`);
  assert.equal((await served.get("/jobs", { authorization: "Bearer wrong" })).status, 401);
  assert.equal((await served.get("/jobs")).status, 401);

  const ends = Math.floor(Date.now() / 1000) + 3600;
  const seal = createHmac("sha256", TOKEN).update(`orb session until ${ends}`).digest("base64url");
  const cookie = { cookie: `orb_session=${ends}.${seal}` };
  assert.equal((await served.get("/jobs", cookie)).status, 200, "a login of then goes on");

  const started = await served.send("POST", `/jobs/${id}/runs`, undefined, { ...admin, "idempotency-key": "once" });
  assert.equal(started.status, 201, started.text);
  const changed = await served.send("PATCH", `/jobs/${id}`, { name: "Prices of today" }, admin);
  assert.equal(changed.status, 200, changed.text);
  const log = (await served.get("/audit-log", admin)).json<{ action: string; actor: { kind: string } }[]>();
  assert.deepEqual(
    log.map(({ action, actor }) => [action, actor.kind]),
    [
      ["job.updated", "token"],
      ["run.started", "token"],
    ],
  );
});
