import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { SessionInput, SessionView } from "../../src/orchestrator/sessions.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { basicAuth, headerAuth, page, sendTo, signIn, status, storageAuth } from "../support/misbehaviours.ts";
import { evidenceOf, TestServer } from "./kit.ts";

/** Words that stand nowhere but in what was given in confidence. */
const SECRET = {
  cookie: "cookie-Zx81-must-not-leak",
  header: "header-Kq72-must-not-leak",
  password: "pass-Wv63-must-not-leak",
  storage: "storage-Ju54-must-not-leak",
  url: "url-Ht45-must-not-leak",
};

const members = page("Members only", "Nobody else reads this.");
const { login, members: forMembers } = signIn(
  { name: "ana", password: SECRET.password },
  { name: "sid", value: SECRET.cookie },
);

const DOORS: Record<string, [route: Route, session: Omit<SessionInput, "origin">]> = {
  "/by-cookie": [forMembers(members), { cookies: { sid: SECRET.cookie } }],
  "/by-cookie-list": [
    forMembers(members),
    { cookies: [{ name: "sid", value: SECRET.cookie, path: "/", httpOnly: true }] },
  ],
  "/by-header": [headerAuth("x-api-key", SECRET.header, members), { headers: { "X-Api-Key": SECRET.header } }],
  "/by-password": [
    basicAuth({ username: "ana", password: SECRET.password }, members),
    { basic: { username: "ana", password: SECRET.password } },
  ],
};

/** Nothing that the product says, writes or keeps holds one of the secrets; as it is, or as it stands in a header. */
function assertKept(server: TestServer): void {
  const basic = Buffer.from(`ana:${SECRET.password}`).toString("base64");
  const words = [...Object.values(SECRET), basic];
  for (const word of words) {
    assert.ok(!server.api.answered.some((text) => text.includes(word)), `an answer holds ${word}`);
    assert.ok(!server.log.some((line) => line.includes(word)), `the log holds ${word}`);
    const found = server.stored().filter(({ bytes }) => bytes.includes(word));
    assert.deepEqual(
      found.map(({ path }) => path),
      [],
      `a file holds ${word}`,
    );
  }
}

describe("pages behind a door, without a browser", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    server = await TestServer.open();
    site = await MisbehavingSite.start({
      ...Object.fromEntries(Object.entries(DOORS).map(([path, [route]]) => [path, route])),
      "/login": login,
      "/sent-away": forMembers(members, sendTo("/login")),
      "/down": status(500),
    });
  });
  after(async () => {
    try {
      assertKept(server);
    } finally {
      await site[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    }
  });

  for (const [path, [, given]] of Object.entries(DOORS))
    test(`a stored session opens ${path.slice(1)}, and is never shown again`, async () => {
      const session = await server.session({ origin: site.origin, name: path, ...given });
      assert.equal(session.holds.length, 1);
      const run = await server.run({ target_url: site.url(path), strategy: "http", session_id: session.id });
      assert.deepEqual([run.status, run.stats["title"]], ["completed", "Members only"], String(run.error_message));
      await server.api.get(`/sessions/${session.id}`);
    });

  test("a job's own headers, cookies and password in the address do the same", async () => {
    site.on("/by-all", (visit, response, own) => {
      const wanted = [visit.headers["x-api-key"], visit.headers.cookie, visit.headers.authorization];
      const right = [
        SECRET.header,
        `sid=${SECRET.cookie}`,
        `Basic ${Buffer.from(`u:${SECRET.url}`).toString("base64")}`,
      ];
      return (String(wanted) === String(right) ? members : status(401))(visit, response, own);
    });
    const target = new URL(site.url("/by-all"));
    target.username = "u";
    target.password = SECRET.url;
    const job = await server.job({
      target_url: target.href,
      strategy: "http",
      escalate: false,
      headers: { "x-api-key": SECRET.header },
      cookies: { sid: SECRET.cookie },
    });
    assert.deepEqual([job.header_names, job.cookie_names], [["x-api-key"], ["sid"]]);
    const run = await server.run(job.id);
    assert.equal(run.status, "completed", String(run.error_message));
    assert.equal(run.url, site.url("/by-all"));
  });

  test("a secret that does not open the door is told of without being told", async () => {
    const session = await server.session({ origin: site.origin, cookies: { sid: `${SECRET.cookie}-old` } });
    const run = await server.run({
      target_url: site.url("/by-cookie"),
      strategy: "http",
      escalate: false,
      session_id: session.id,
      max_attempts: 1,
    });
    assert.deepEqual([run.status, run.failure_reason], ["failed", "http_unauthorized"]);
  });

  test("a session is for its own origin: a job of another is refused, made so or changed to it", async () => {
    await using other = await MisbehavingSite.start({ "/": page("Elsewhere") }, "127.0.0.2");
    const session = await server.session({ origin: site.origin, headers: { "x-api-key": SECRET.header } });
    const elsewhere = { target_url: other.url("/"), strategy: "http" };
    const refused = async (call: Promise<{ status: number; text: string }>) => {
      const { status: code, text } = await call;
      assert.equal(code, 422, text);
      assert.match(text, /session_id: the session belongs to/);
    };
    await refused(server.api.post("/jobs", { ...elsewhere, session_id: session.id }));
    const replay = { request: { url: other.url("/api") } };
    const by = { target_url: site.url("/"), strategy: "api_replay", replay, session_id: session.id };
    await refused(server.api.post("/jobs", by));
    const { id } = await server.job({ target_url: other.url("/"), strategy: "http" });
    await refused(server.api.call("PATCH", `/jobs/${id}`, { session_id: session.id }));
    const own = await server.job({ target_url: site.url("/by-header"), strategy: "http", session_id: session.id });
    await refused(server.api.call("PATCH", `/jobs/${own.id}`, elsewhere));
    const moved = await server.api.call("PATCH", `/jobs/${own.id}`, { ...elsewhere, session_id: null });
    assert.equal(moved.status, 200, moved.text);
    assert.equal(other.visits.length, 0);
  });

  test("a session that is deleted while its job lives fails the run and says so", async () => {
    const session = await server.session({ origin: site.origin, headers: { "x-api-key": SECRET.header } });
    const job = await server.job({ target_url: site.url("/by-header"), strategy: "http", session_id: session.id });
    assert.equal((await server.api.call("DELETE", `/sessions/${session.id}`)).status, 204);
    const run = await server.run(job.id);
    assert.deepEqual([run.status, run.failure_reason], ["failed", "session_unusable"]);
    const renamed = await server.api.call("PATCH", `/jobs/${job.id}`, { name: "Renamed" });
    assert.equal(renamed.status, 200, "any other change is possible");
    const unknown = await server.api.post("/jobs", { target_url: site.url("/"), session_id: session.id });
    assert.equal(unknown.status, 422);
    assert.match(unknown.text, /session_id/);
  });

  test("a check says whether the site still lets us in", async () => {
    const check = async (cookie: string, path: string) => {
      const session = await server.session({
        origin: site.origin,
        cookies: { sid: cookie },
        check_url: site.url(path),
      });
      const answer = await server.api.post(`/sessions/${session.id}/check`);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<SessionView>().health?.status;
    };
    assert.equal(await check(SECRET.cookie, "/by-cookie"), "healthy");
    assert.equal(await check("another", "/by-cookie"), "rejected");
    assert.equal(await check("another", "/sent-away"), "rejected", "sent to the sign-in page");
    assert.equal(await check(SECRET.cookie, "/down"), "unreachable");
  });

  test("a job that turns to another origin forgets what it was given for the old one", async () => {
    await using other = await MisbehavingSite.start({ "/": page("Elsewhere") }, "127.0.0.2");
    const job = await server.job({
      target_url: site.url("/by-header"),
      strategy: "http",
      headers: { "x-api-key": SECRET.header },
      cookies: { sid: SECRET.cookie },
    });
    assert.equal((await server.run(job.id)).status, "completed");
    const renamed = await server.api.call("PATCH", `/jobs/${job.id}`, { name: "Renamed" });
    assert.deepEqual(renamed.json<JobView>().header_names, ["x-api-key"], "any other change keeps them");
    assert.equal((await server.run(job.id)).status, "completed");
    const moved = await server.api.call("PATCH", `/jobs/${job.id}`, { target_url: other.url("/") });
    assert.deepEqual([moved.json<JobView>().header_names, moved.json<JobView>().cookie_names], [[], []]);
    assert.equal((await server.run(job.id)).status, "completed");
    assert.equal(other.visits.length, 1);
    const { "x-api-key": key, cookie } = other.visits[0]!.headers;
    assert.deepEqual([key, cookie], [undefined, undefined]);
  });

  test("what is refused is refused by its field, and never repeated", async () => {
    const target_url = site.url("/by-cookie");
    const refused: [path: string, body: unknown][] = [
      ["/jobs", { target_url, headers: { "x-key": `${SECRET.header}\r\nx-more: 1` } }],
      ["/jobs", { target_url, headers: { "bad name": SECRET.header } }],
      ["/jobs", { target_url, headers: { host: SECRET.header } }],
      ["/jobs", { target_url, headers: { "x-key": [SECRET.header] } }],
      ["/jobs", { target_url, headers: SECRET.header }],
      ["/jobs", { target_url, cookies: { sid: `${SECRET.cookie};` } }],
      ["/jobs", { target_url, cookies: [{ name: "sid", value: SECRET.cookie, sameSite: "Never" }] }],
      ["/jobs", { target_url, cookies: SECRET.cookie }],
      ["/jobs", { target_url: `ftp://u:${SECRET.url}@shop.example/` }],
      ["/jobs", { target_url: `http://u:${SECRET.url}@10.0.0.1/` }],
      ["/jobs", { target_url: `http://u:${SECRET.url}@/` }],
      ["/sessions", { origin: site.origin, basic: { username: "ana", password: [SECRET.password] } }],
      ["/sessions", { origin: site.origin, basic: { password: SECRET.password } }],
      ["/sessions", { origin: site.origin, cookies: { "a=b": SECRET.cookie } }],
      ["/sessions", { origin: `http://u:${SECRET.url}@shop.example`, headers: { "x-key": SECRET.header } }],
      ["/sessions", { origin: site.origin, storage_state: { cookies: SECRET.storage } }],
      [
        "/sessions",
        { origin: site.origin, check_url: `http://u:${SECRET.url}@elsewhere.example/`, headers: { a: "b" } },
      ],
      ["/extract/preview", { url: `http://u:${SECRET.url}@10.0.0.1/` }],
      ["/extract/preview", { url: `http://u:${SECRET.url}@shop.example:99999/` }],
    ];
    for (const [path, body] of refused) {
      const answer = await server.api.post(path, body);
      assert.equal(answer.status, 422, `${JSON.stringify(body)}: ${answer.text}`);
      for (const word of Object.values(SECRET)) assert.ok(!answer.text.includes(word), answer.text);
    }
  });

  test("a session without anything in it, or for no origin, is refused by field", async () => {
    const empty = await server.api.post("/sessions", { origin: site.origin });
    assert.equal(empty.status, 422, empty.text);
    const wrong = await server.api.post("/sessions", { origin: `${site.origin}/path`, headers: { a: "b" } });
    assert.match(wrong.text, /origin/);
  });
});

test("credentials that were stored under another key fail the run with the way out, and are not tried again [slow]", async () => {
  await using site = await MisbehavingSite.start({ "/": headerAuth("x-api-key", SECRET.header, members) });
  await using server = await TestServer.open({ APP_SECRET_KEY: "the-first-key-of-good-length" });
  const { id: session_id } = await server.session({ origin: site.origin, headers: { "x-api-key": SECRET.header } });
  const jobs = [
    await server.job({ target_url: site.url("/"), strategy: "http", session_id }),
    await server.job({ target_url: site.url("/"), strategy: "http", headers: { "x-api-key": SECRET.header } }),
  ];
  await server.stop();
  await server.start({ env: { APP_SECRET_KEY: "another-key-of-good-length" } });
  for (const { id } of jobs) {
    const run = await server.run(id);
    assert.deepEqual([run.status, run.failure_reason, run.attempt], ["failed", "session_unusable", 1]);
    assert.match(run.error_message ?? "", /APP_SECRET_KEY/);
    assert.equal((await server.api.call("PATCH", `/jobs/${id}`, { name: "still mine" })).status, 200);
  }
  const locked = await server.api.call("PATCH", `/jobs/${jobs[1]!.id}`, { headers: { "x-api-key": "another" } });
  assert.deepEqual([locked.status, locked.json<{ code: string }>().code], [409, "secret_key_wrong"], locked.text);
  assert.equal(site.visits.length, 0);
  await server.stop();
  await server.start({ env: { APP_SECRET_KEY: "the-first-key-of-good-length" } });
  for (const { id } of jobs) assert.equal((await server.run(id)).status, "completed", "nothing is lost");
});

describe("pages behind a door, in a browser", browserGate, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "2" });
  });
  after(async () => {
    try {
      assertKept(server);
    } finally {
      await server[Symbol.asyncDispose]();
    }
  });

  for (const [path, [route, given]] of Object.entries(DOORS))
    test(`requires_auth finds the newest session of the origin: ${path.slice(1)}`, async () => {
      await using site = await MisbehavingSite.start({ [path]: route });
      await server.session({ origin: site.origin, headers: { "x-of-no-use": "old" } });
      await server.session({ origin: site.origin, ...given });
      const run = await server.run({ target_url: site.url(path), requires_auth: true, max_attempts: 1 });
      assert.deepEqual([run.status, run.stats["title"]], ["completed", "Members only"], String(run.error_message));
      assert.deepEqual([run.resolved_strategy, evidenceOf(run).rule], ["browser", "requires_auth"]);
      assert.ok(site.visits.every(({ byBrowser }) => byBrowser));
    });

  test("a storage state opens what only scripts can open, and other origins see nothing of it [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/app": storageAuth("token", SECRET.storage, "Hello again") });
    const session = await server.session({
      origin: site.origin,
      storage_state: {
        cookies: [
          { name: "sid", value: SECRET.cookie, domain: "127.0.0.1", path: "/" },
          { name: "foreign", value: "x", domain: "elsewhere.example", path: "/" },
        ],
        origins: [{ origin: site.origin, localStorage: [{ name: "token", value: SECRET.storage }] }],
      },
    });
    assert.deepEqual(session.holds, ["cookies", "local_storage"]);
    const run = await server.run({
      target_url: site.url("/app"),
      requires_auth: true,
      session_id: session.id,
      fields: { heading: { css: "h1" } },
    });
    assert.equal(run.status, "completed", String(run.error_message));
    assert.deepEqual((await server.results(run.id))[0]?.data, { heading: "Hello again" });
    assert.equal(site.visits[0]?.headers.cookie, `sid=${SECRET.cookie}`);
    const stranger = await server.run({
      target_url: site.url("/app"),
      strategy: "browser",
      fields: { heading: { css: "h1" } },
      // The script of the page has the secret in it.
      fixtures: 0,
    });
    assert.deepEqual(
      (await server.results(stranger.id))[0]?.data,
      { heading: "Please sign in" },
      "no visit sees another's",
    );
  });
});
