import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Delegations } from "../../src/api/access/delegations.ts";
import type { ApiRequest } from "../../src/api/instance.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";

const withToken = { settings: { token: TOKEN } };
const admin = { authorization: `Bearer ${TOKEN}` };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

interface Key {
  id: string;
  key: string;
  prefix: string;
}

async function makeKey(served: TestApi, body: object, headers: Record<string, string> = admin): Promise<Key> {
  const answer = await served.send("POST", "/keys", { name: "a key", role: "viewer", ...body }, headers);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<Key>();
}

const statusWith = async (served: TestApi, key: string, path = "/keys/me") =>
  (await served.get(path, bearer(key))).status;

async function makeJob(served: TestApi, name: string, more: object = {}): Promise<string> {
  const body = { name, target_url: "https://a.example/", fields: { title: "h1" }, ...more };
  const answer = await served.send("POST", "/jobs", body, admin);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<{ id: string }>().id;
}

interface Refused {
  errors: { path: string; message: string }[];
}
const idOf = (answer: { json: <T>() => T }) => answer.json<{ id: string }>().id;

describe("a key", () => {
  test("is shown once, and works from then on; nothing shows it or its hash again", async (t) => {
    const served = await openTestApi(t, withToken);
    const { id, key, prefix } = await makeKey(served, { name: "ci", role: "operator", requests_per_minute: 600 });
    assert.match(key, /^orb_[\w-]{43}$/);
    assert.ok(key.startsWith(prefix) && prefix.length < 12);
    const me = await served.get("/keys/me", bearer(key));
    const { kind, name, role, requests_per_minute: rate } = me.json<Record<string, unknown>>();
    assert.deepEqual([kind, name, role, rate], ["key", "ci", "operator", 600]);
    for (const path of [`/keys/${id}`, "/keys", "/audit-log", "/keys/me"]) {
      const { status, text } = await served.get(path, admin);
      assert.equal(status, 200, text);
      assert.ok(!text.includes(key.slice(12)) && !/[0-9a-f]{64}/.test(text), path);
    }
    assert.ok(!served.log.join("").includes(key.slice(12)));
    const shown = (await served.get(`/keys/${id}`, admin)).json<{ last_used_at: string | null; created_by: unknown }>();
    assert.notEqual(shown.last_used_at, null);
    assert.deepEqual(shown.created_by, { kind: "token", id: null, name: "APP_API_TOKEN" });
  });

  test("with a wrong character is no key, and is slowed down as a wrong token is", async (t) => {
    const served = await openTestApi(t, withToken);
    const { key } = await makeKey(served, {});
    const other = `${key.slice(0, -2)}${key.at(-2) === "A" ? "B" : "A"}${key.at(-1)}`;
    for (const wrong of [other, key.slice(0, -1), `${key}A`, key.toUpperCase()])
      assert.equal(await statusWith(served, wrong), 401);
    assert.equal(await statusWith(served, key), 200);
  });

  test("of an admin may do what the token may; others may not make keys", async (t) => {
    const served = await openTestApi(t, withToken);
    const { key } = await makeKey(served, { role: "admin" });
    const second = await makeKey(served, { role: "operator" }, bearer(key));
    const refused = await served.send("POST", "/keys", { name: "x", role: "admin" }, bearer(second.key));
    assert.deepEqual([refused.status, refused.json<{ code: string }>().code], [403, "role_missing"]);
    const limited = { name: "x", role: "admin", sites: ["a.example"] };
    assert.equal((await served.send("POST", "/keys", limited, admin)).status, 422);
  });

  test("that is named instead of its id is not found, with the command that lists ids", async (t) => {
    const served = await openTestApi(t, withToken);
    const { prefix } = await makeKey(served, {});
    for (const method of ["GET", "DELETE"]) {
      const answer = await served.call({ method, path: `/keys/${prefix}`, headers: admin });
      assert.equal(answer.status, 404);
      assert.match(answer.json<{ hint: string }>().hint, /orb keys list/);
    }
  });

  test("is limited to sites by their hosts or by addresses of pages, and to jobs that exist", async (t) => {
    const served = await openTestApi(t, withToken);
    const job = await makeJob(served, "shop");
    const sites = ["http://Example.COM/x", "B.example:80", "https://c.example:8443/", "example.com"];
    const { id } = await makeKey(served, { sites, jobs: [job] });
    const shown = async () => (await served.get(`/keys/${id}`, admin)).json<{ sites: string[]; jobs: string[] }>();
    assert.deepEqual((await shown()).sites, ["example.com", "b.example", "c.example:8443"]);
    const nobody = "0".repeat(32);
    for (const [body, path] of [
      [{ sites: ["a.example", "a b"] }, "sites[1]"],
      [{ sites: ["ftp://a.example/"] }, "sites[0]"],
      [{ sites: ["a.example/path"] }, "sites[0]"],
      [{ jobs: [job, nobody] }, "jobs[1]"],
    ] as const) {
      for (const answer of [
        await served.send("POST", "/keys", { name: "x", role: "viewer", ...body }, admin),
        await served.send("PATCH", `/keys/${id}`, body, admin),
      ]) {
        assert.equal(answer.status, 422, answer.text);
        assert.equal(answer.json<Refused>().errors[0]?.path, path);
      }
    }
    await served.call({ method: "DELETE", path: `/jobs/${job}`, headers: admin });
    const same = await served.send("PATCH", `/keys/${id}`, { name: "b", jobs: [job] }, admin);
    assert.equal(same.status, 200, "a job that was deleted since may stay in the list");
  });

  test("that is revoked or changed is refused at once by its server, and within a second by others", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const { id, key } = await makeKey(served, { role: "operator" });
    assert.equal(await statusWith(served, key), 200);
    await served.send("PATCH", `/keys/${id}`, { role: "viewer" }, admin);
    await clock.advance(500);
    assert.equal((await served.send("POST", "/runs", {}, bearer(key))).status, 403);
    await served.call({ method: "DELETE", path: `/keys/${id}`, headers: admin });
    await clock.advance(500);
    const refused = await served.get("/keys/me", bearer(key));
    assert.deepEqual([refused.status, refused.json<{ detail: string }>().detail], [401, "the key a key was revoked"]);
    const login = await served.send("POST", "/session", { token: key });
    assert.deepEqual([login.status, login.json<{ detail: string }>().detail], [401, "the key a key was revoked"]);
    assert.equal((await served.send("PATCH", `/keys/${id}`, { name: "b" }, admin)).status, 409);
    const list = (await served.get("/keys?revoked=false", admin)).json<unknown[]>();
    assert.equal(list.length, 0);
  });

  test("that expires is refused from then on", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const { key } = await makeKey(served, { expires_at: new Date(clock.now() + 60_000).toISOString() });
    assert.equal(await statusWith(served, key), 200);
    await clock.advance(61_000);
    const refused = await served.get("/keys/me", bearer(key));
    assert.equal(refused.status, 401);
    assert.match(refused.json<{ detail: string }>().detail, /^the key a key expired at \d{4}-.*Z$/);
    const past = { name: "x", role: "viewer", expires_at: new Date(clock.now() - 1).toISOString() };
    assert.equal((await served.send("POST", "/keys", past, admin)).status, 422);
  });

  test("with a rate gets 429 with the time to wait, and others do not", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const slow = await makeKey(served, { requests_per_minute: 6 });
    const other = await makeKey(served, {});
    for (let call = 0; call < 6; call += 1) assert.equal(await statusWith(served, slow.key), 200);
    const refused = await served.get("/keys/me", bearer(slow.key));
    assert.deepEqual([refused.status, refused.headers["retry-after"]], [429, "10"]);
    assert.equal(refused.json<{ code: string }>().code, "rate_limited");
    assert.equal(await statusWith(served, other.key), 200);
    await clock.advance(10_000);
    assert.equal(await statusWith(served, slow.key), 200);
    assert.equal(await statusWith(served, slow.key), 429);
  });

  test("ends its open streams within a second of its revocation", async (t) => {
    const served = await openTestApi(t, withToken);
    const { id, key } = await makeKey(served, {});
    const stream = await fetch(`${served.url}/events/stream`, { headers: bearer(key) });
    assert.equal(stream.status, 200);
    const mine = await fetch(`${served.url}/events/stream`, { headers: admin });
    await served.call({ method: "DELETE", path: `/keys/${id}`, headers: admin });
    const revokedAt = performance.now();
    for await (const _ of stream.body!);
    assert.ok(performance.now() - revokedAt < 5000);
    const first = await mine.body!.getReader().read();
    assert.equal(first.done, false, "that of the token goes on");
  });
});

test("each version of a job names who made it and with which program, as runs and the audit log do", async (t) => {
  const served = await openTestApi(t, withToken);
  const { id: keyId, key } = await makeKey(served, { name: "ci", role: "operator" });
  const own = bearer(key);
  const job = await makeJob(served, "prices");
  await served.send("PATCH", `/jobs/${job}`, { fields: { title: "h2" } }, { ...own, "orb-client": "cli" });
  await served.send("POST", `/jobs/${job}/versions/1/restore`, undefined, own);
  interface Version {
    version: number;
    made_by: unknown;
    author: string;
  }
  const versions = (await served.get(`/jobs/${job}/versions`, own)).json<Version[]>();
  const ci = { kind: "key", id: keyId, name: "ci" };
  const token = { kind: "token", id: null, name: "APP_API_TOKEN" };
  assert.deepEqual(
    versions.map(({ version, made_by, author }) => [version, made_by, author]),
    [
      [3, ci, "api"],
      [2, ci, "cli"],
      [1, token, "api"],
    ],
  );
  assert.deepEqual((await served.get(`/jobs/${job}/versions/2`, own)).json<Version>().made_by, ci);
  const run = (await served.send("POST", `/jobs/${job}/runs`, undefined, own)).json<{ started_by: unknown }>();
  const log = (await served.get(`/audit-log?object_id=${job}`, admin)).json<{ actor: unknown }[]>();
  assert.deepEqual([run.started_by, ...log.map(({ actor }) => actor)], [ci, ci, ci, token]);
  // The name of a key that is gone stays.
  await served.call({ method: "DELETE", path: `/keys/${keyId}`, headers: admin });
  assert.deepEqual((await served.get(`/jobs/${job}/versions/2`, admin)).json<Version>().made_by, ci);
});

describe("a browser", () => {
  test("signs in with a key, has its rights, and its cookie ends with the key", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const { id, key } = await makeKey(served, { name: "eve", role: "viewer" });
    const answer = await served.send("POST", "/session", { token: key });
    assert.equal(answer.status, 204);
    const [set] = [answer.headers["set-cookie"]].flat();
    assert.match(set ?? "", /^orb_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    assert.ok(!set?.includes(key));
    const cookie = (set ?? "").split(";")[0] ?? "";
    const own = { cookie, origin: served.url };
    assert.equal((await served.get("/keys/me", own)).json<{ name: string }>().name, "eve");
    assert.equal((await served.send("POST", "/keys", { name: "x", role: "admin" }, own)).status, 403);
    assert.equal((await served.get("/keys/me", { cookie: cookie.replace(/.$/, "x") })).status, 401);
    const foreign = await served.send("POST", "/runs", {}, { cookie });
    const { code, hint } = foreign.json<{ code: string; hint: string }>();
    assert.equal(code, "forbidden_origin");
    assert.match(hint, /Send a key or token/, "a program sends no Origin header already");
    await served.call({ method: "DELETE", path: `/keys/${id}`, headers: admin });
    await clock.advance(500);
    assert.equal((await served.get("/keys/me", own)).status, 401);
    assert.equal((await served.send("POST", "/session", { token: key })).status, 401);
  });
});

describe("without a token", () => {
  test("everybody on this machine is an admin, and a key still has only its own rights", async (t) => {
    const served = await openTestApi(t);
    const me = (headers: Record<string, string>) => served.get("/keys/me", headers);
    const { kind, role } = (await me({})).json<{ kind: string; role: string }>();
    assert.deepEqual([kind, role], ["local", "admin"]);
    const { id, key } = await makeKey(served, { role: "viewer" }, {});
    assert.equal((await me(bearer(key))).json<{ role: string }>().role, "viewer");
    assert.equal((await served.send("POST", "/keys", { name: "x", role: "admin" }, bearer(key))).status, 403);
    assert.equal((await me({ authorization: "Bearer anything" })).status, 200, "as before");
    await served.call({ method: "DELETE", path: `/keys/${id}` });
    assert.equal((await me(bearer(key))).status, 401);
  });
});

test("a browser that signed in by a key gets no other rights when the key is revoked, even where no token is needed", async (t) => {
  const served = await openTestApi(t);
  const { id, key } = await makeKey(served, { role: "viewer" }, {});
  const login = await served.send("POST", "/session", { token: key });
  const cookie = { cookie: String(login.headers["set-cookie"]).split(";")[0] ?? "" };
  const me = async () => (await served.get("/keys/me", cookie)).json<{ role?: string; code?: string }>();
  assert.equal((await me()).role, "viewer");
  await served.call({ method: "DELETE", path: `/keys/${id}` });
  assert.equal((await me()).code, "unauthorized");
});

test("a call that a tool makes for a caller is refused when that one's call has ended", () => {
  const delegations = new Delegations();
  const principal = {
    kind: "key",
    id: "1",
    name: "agent",
    role: "viewer",
    limits: null,
    requestsPerMinute: null,
  } as const;
  const { headers, end } = delegations.begin({ principal, ip: "192.0.2.1" });
  const request = { headers } as unknown as ApiRequest;
  assert.equal(delegations.principalOf(request)?.principal.role, "viewer");
  end();
  assert.throws(() => delegations.principalOf(request), /has ended/);
  assert.equal(delegations.principalOf({ headers: {} } as ApiRequest), null);
});

describe("a key with limits", () => {
  test("sees, starts and changes its jobs alone: others do not exist for it", async (t) => {
    const served = await openTestApi(t, withToken);
    const mine = await makeJob(served, "mine", { tags: ["shop"] });
    const other = await makeJob(served, "other");
    const { key } = await makeKey(served, { role: "operator", tags: ["shop"] });
    const own = bearer(key);
    const list = (await served.get("/jobs?limit=1", own)).json<{ id: string }[]>();
    assert.deepEqual(
      list.map(({ id }) => id),
      [mine],
    );
    const started = await served.send("POST", `/jobs/${mine}/runs`, undefined, own);
    assert.equal(started.status, 201, started.text);
    const run = started.json<{ id: string; started_by: unknown }>();
    assert.deepEqual((run.started_by as { name: string }).name, "a key");
    const hidden = await served.send("POST", `/jobs/${other}/runs`, undefined, admin);
    const { id: hiddenRun } = hidden.json<{ id: string }>();
    assert.deepEqual(
      (await served.get("/runs", own)).json<{ id: string }[]>().map(({ id }) => id),
      [run.id],
    );
    for (const path of [
      `/jobs/${other}`,
      `/jobs/runs/${hiddenRun}`,
      `/jobs/runs/${hiddenRun}/events`,
      `/jobs/runs/${hiddenRun}/events/stream`,
    ])
      assert.equal((await served.get(path, own)).status, 404, path);
    assert.equal((await served.send("POST", `/jobs/${other}/runs`, undefined, own)).status, 404);
    assert.equal((await served.send("POST", `/jobs/runs/${hiddenRun}/cancel`, undefined, own)).status, 404);
    const escape = await served.send("PATCH", `/jobs/${mine}`, { tags: ["news"] }, own);
    assert.deepEqual([escape.status, escape.json<{ code: string }>().code], [403, "outside_limits"]);
    assert.match(escape.json<{ detail: string }>().detail, /may not make or change such a job/);
    for (const path of ["/overview", "/queue/items", "/events/stream", "/sessions", "/proxies"])
      assert.equal((await served.get(path, own)).json<{ code: string }>().code, "key_limited", path);
  });

  test("to sites starts pages of these sites alone", async (t) => {
    const served = await openTestApi(t, withToken);
    const { key } = await makeKey(served, { role: "operator", sites: ["A.example"] });
    const start = (url: string) =>
      served.send("POST", "/runs", { target_url: url, fields: { title: "h1" } }, bearer(key));
    assert.equal((await start("https://a.example/")).status, 201);
    assert.equal((await start("https://b.example/")).status, 403);
    const urls = ["https://a.example/", "https://b.example/"];
    const crawl = await served.send("POST", "/scraping/async-scrape", { urls }, bearer(key));
    assert.equal(crawl.status, 403, crawl.text);
    // A schedule would start it without the key.
    const saved = (crawlUrls: readonly string[]) =>
      served.send(
        "POST",
        "/jobs",
        { name: "c", kind: "crawl", crawl: { urls: crawlUrls }, schedule: "0 6 * * *" },
        bearer(key),
      );
    const outside = await saved(urls);
    assert.deepEqual([outside.status, outside.json<{ code: string }>().code], [403, "outside_limits"], outside.text);
    const inside = await saved(["https://a.example/", "https://a.example/news"]);
    assert.equal(inside.status, 201, inside.text);
    const path = `/jobs/${inside.json<{ id: string }>().id}`;
    assert.equal((await served.send("PATCH", path, { crawl: { urls } }, bearer(key))).status, 403);
  });

  test("uses sessions of its sites alone, and does not learn of others", async (t) => {
    const served = await openTestApi(t, withToken);
    for (const name of ["a", "bank"]) {
      const session = { name, origin: `https://${name}.example`, cookies: [{ name: "id", value: "1" }] };
      const made = await served.send("POST", "/sessions", session, admin);
      assert.equal(made.status, 201, made.text);
    }
    const { key } = await makeKey(served, { role: "operator", tags: ["shop"] });
    const page = (host: string) => ({
      name: host,
      target_url: `https://${host}.example/`,
      tags: ["shop"],
      session_id: host,
      fields: { title: "h1" },
    });
    const refused = await served.send("POST", "/jobs", page("bank"), bearer(key));
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.text, /there is no session with this id or name/);
    const ofSite = await makeKey(served, { role: "operator", sites: ["a.example"] });
    assert.equal((await served.send("POST", "/jobs", page("a"), bearer(ofSite.key))).status, 201);
  });

  test("gets no session of another site by a page or a workflow that requires a sign-in", async (t) => {
    const served = await openTestApi(t, withToken);
    const session = { name: "bank", origin: "https://bank.example", cookies: [{ name: "id", value: "1" }] };
    assert.equal((await served.send("POST", "/sessions", session, admin)).status, 201);
    const { key } = await makeKey(served, { role: "operator", tags: ["shop"] });
    const page = { name: "p", tags: ["shop"], target_url: "https://bank.example/", fields: { title: "h1" } };
    const requiring = await served.send("POST", "/jobs", { ...page, requires_auth: true }, bearer(key));
    assert.deepEqual([requiring.status, requiring.json<Refused>().errors[0]?.path], [422, "requires_auth"]);
    const made = await served.send("POST", "/jobs", page, bearer(key));
    const change = await served.send("PATCH", `/jobs/${idOf(made)}`, { requires_auth: true }, bearer(key));
    assert.equal(change.status, 422, change.text);

    const step = (params: object) => ({
      name: "W",
      params: { type: "object", properties: { url: { type: "string" } } },
      steps: [{ name: "read", task_type: "scrape", params: { url: "https://bank.example/", ...params } }],
    });
    const workflow = (definition: object) => ({
      name: "w",
      kind: "workflow",
      tags: ["shop"],
      workflow: { definition },
    });
    for (const params of [{ session_id: "bank" }, { requires_auth: true }, { session_id: "${{ params.url }}" }]) {
      const refused = await served.send("POST", "/jobs", workflow(step(params)), bearer(key));
      const path = `workflow.definition.steps[0].params.${Object.keys(params)[0]}`;
      assert.deepEqual([refused.status, refused.json<Refused>().errors[0]?.path], [422, path], refused.text);
    }
    assert.equal((await served.send("POST", "/jobs", workflow(step({})), bearer(key))).status, 201);

    // What an admin made with a session may be started and renamed, and not pointed elsewhere.
    const secret = { type: "string", writeOnly: true };
    const definition = {
      ...step({ url: "${{ params.url }}", requires_auth: true }),
      params: { type: "object", properties: { url: { type: "string" }, secret } },
    };
    const sent = {
      ...workflow(definition),
      workflow: { definition, params: { url: "https://shop.example/", secret: "s" } },
    };
    const path = `/jobs/${idOf(await served.send("POST", "/jobs", sent, admin))}`;
    const shown = (await served.get(path, bearer(key))).json<{ workflow: object }>();
    for (const change of [{ name: "renamed" }, { name: "again", workflow: shown.workflow }])
      assert.equal((await served.send("PATCH", path, change, bearer(key))).status, 200);
    const moved = { workflow: { params: { url: "https://bank.example/" } } };
    assert.equal((await served.send("PATCH", path, moved, bearer(key))).status, 422);
    const run = await served.send("POST", `${path}/runs`, undefined, bearer(key));
    assert.equal(run.status, 201, run.text);
    const rerun = `/workflows/${idOf(run)}/rerun`;
    assert.equal((await served.send("POST", rerun, {}, bearer(key))).status, 201);
    assert.equal((await served.send("POST", rerun, { params: moved.workflow.params }, bearer(key))).status, 422);
  });

  test("starts workflows of built-in templates, and does not learn of others", async (t) => {
    const served = await openTestApi(t, withToken);
    const definition = { name: "T", steps: [{ name: "wait", task_type: "wait", params: { seconds: 1 } }] };
    const saved = await served.send("PUT", "/workflows/templates/internal", { definition }, admin);
    assert.ok(saved.status < 300, saved.text);
    const { key } = await makeKey(served, { role: "operator", tags: ["shop"] });
    const job = (template: string) => ({ name: "t", kind: "workflow", tags: ["shop"], workflow: { template } });
    const answers = await Promise.all(
      ["internal", "unknown"].map((name) => served.send("POST", "/jobs", job(name), bearer(key))),
    );
    assert.deepEqual(
      answers.map((answer) => [answer.status, answer.json<Refused>().errors[0]?.message]),
      [
        [422, "there is no template named internal"],
        [422, "there is no template named unknown"],
      ],
    );
    // A job of an admin may be renamed and started.
    const path = `/jobs/${idOf(await served.send("POST", "/jobs", job("internal"), admin))}`;
    assert.equal((await served.send("PATCH", path, { name: "renamed" }, bearer(key))).status, 200);
    assert.equal((await served.send("POST", `${path}/runs`, undefined, bearer(key))).status, 201);
  });

  test("reads all pages of the list of workflows, of which most are not its own", async (t) => {
    const served = await openTestApi(t, withToken);
    const definition = { name: "W", steps: [{ name: "wait", task_type: "wait", params: { seconds: 1 } }] };
    const job = { name: "mine", kind: "workflow", tags: ["shop"], workflow: { definition } };
    const made = await served.send("POST", "/jobs", job, admin);
    assert.equal(made.status, 201, made.text);
    await served.send("POST", `/jobs/${made.json<{ id: string }>().id}/runs`, undefined, admin);
    for (let count = 0; count < 3; count += 1) await served.send("POST", "/workflows", { definition }, admin);
    const { key } = await makeKey(served, { tags: ["shop"] });
    const list = (await served.get("/workflows?limit=1", bearer(key))).json<{ name: string }[]>();
    assert.deepEqual(
      list.map(({ name }) => name),
      ["mine"],
    );
  });
});
