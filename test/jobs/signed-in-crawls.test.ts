import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SessionView } from "../../src/orchestrator/sessions.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, page, sendTo } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const COOKIE = "cookie-Ab12-must-not-leak";
const TEXT = "The members read what others do not, in words that are long enough to be an article of its own.";

describe("a crawl behind a sign-in", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  let elsewhere: MisbehavingSite;
  before(async () => {
    server = await TestServer.open();
    elsewhere = await MisbehavingSite.start({ "/": page("Elsewhere", TEXT) }, "127.0.0.2");
    const forMembers =
      (route: Route): Route =>
      (visit, response, own) =>
        (visit.headers.cookie?.includes(`sid=${COOKIE}`) === true
          ? route
          : sendTo(`/login?next=${encodeURIComponent(visit.path)}`))(visit, response, own);
    const links = [1, 2, 3, 4].map((n) => `<a href="/members/${n}">${n}</a>`).join(" ");
    site = await MisbehavingSite.start({
      "/login": html(`<title>Sign in</title><form><input type=password></form>`),
      "/members": forMembers(
        html(`<title>Members</title><p>${TEXT}</p>${links} <a href="${elsewhere.url("/")}">elsewhere</a>`),
      ),
      ...Object.fromEntries(
        [1, 2, 3, 4].map((n) => [`/members/${n}`, forMembers(page(`Member page ${n}`, `${TEXT} ${n}`))]),
      ),
    });
  });
  after(async () => {
    for (const one of [site, elsewhere]) await one[Symbol.asyncDispose]();
    try {
      assert.ok(!server.api.answered.some((text) => text.includes(COOKIE)), "an answer holds the cookie");
      assert.deepEqual(
        server.stored().filter(({ bytes }) => bytes.includes(COOKIE)),
        [],
      );
    } finally {
      await server[Symbol.asyncDispose]();
    }
  });

  const crawl = async (body: object) => {
    const { task_id: id } = (
      await server.api.post("/scraping/async-scrape", { url: site.url("/members"), respect_robots: false, ...body })
    ).json<{ task_id: string }>();
    await server.ended(id);
    return server.client.crawls.status(id);
  };
  const titles = async (id: string) => (await server.results(id)).map(({ data }) => data["title"]).toSorted();

  test("without a session: the run is completed, with a warning on the record, on the run and in its message", async () => {
    const view = await crawl({});
    assert.deepEqual([view.status, view.sign_in_items], ["completed", 1]);
    assert.match(view.message ?? "", /1 page led to a sign-in/);
    assert.match(
      view.warnings.map(({ message }) => message).join(),
      /^1 page led to a sign-in: the site redirected to \/login, which asks for a password/,
    );
    const [record] = await server.results(view.task_id);
    assert.match(String(record?.data["warning"]), /redirected to \/login/);
    assert.equal(record?.data["title"], "Sign in");
    assert.deepEqual((await server.show(view.task_id)).warnings, view.warnings);
    const { rows } = await server.client.runs.tasks(view.task_id).page();
    assert.match(JSON.stringify(rows[0]?.detail), /"final_url":"[^"]+\/login\?next=/);
  });

  test("what the crawl leaves because it is a sign-in outside of its scope is told, too", async () => {
    const view = await crawl({ url: [site.url("/members"), site.url("/members/1")], stay_within: "path" });
    assert.ok(view.sign_in_items > 0, JSON.stringify(view));
  });

  test("with a session, named by its name: every page behind the door, and the cookie goes nowhere else", async () => {
    await server.session({ name: "members", origin: site.origin, cookies: `sid=${COOKIE}` });
    const visits = elsewhere.visits.length;
    const view = await crawl({ session_id: "members", same_site: false, max_depth: 1 });
    assert.deepEqual([view.status, view.completed_items, view.sign_in_items, view.warnings], ["completed", 6, 0, []]);
    assert.deepEqual(await titles(view.task_id), [
      "Elsewhere",
      "Member page 1",
      "Member page 2",
      "Member page 3",
      "Member page 4",
      "Members",
    ]);
    assert.ok(elsewhere.visits.length > visits);
    for (const { headers } of elsewhere.visits) assert.equal(headers.cookie, undefined);
    const { last_used_at: used } = (await server.api.get("/sessions/members")).json<SessionView>();
    assert.notEqual(used, null);
  });

  test("saved as a job, it keeps the session by its id, and the session tells which jobs use it", async () => {
    const created = await server.session({ name: "of jobs", origin: site.origin, cookies: { sid: COOKIE } });
    const job = await server.job({
      kind: "crawl",
      name: "Members",
      target_url: site.url("/members"),
      crawl: { session_id: "of jobs", respect_robots: false },
    });
    assert.deepEqual([job.session_id, job.crawl?.session_id], [created.id, created.id]);
    const shown = (await server.api.get("/sessions/of%20jobs")).json<SessionView>();
    assert.deepEqual(shown.jobs, [{ id: job.id, name: "Members", target_url: site.url("/members") }]);
    const run = await server.run(job.id);
    assert.equal((await server.results(run.id)).length, 5);
    assert.equal((await server.client.runs.recipe(run.id)).recipe.crawl?.session_id, created.id);
  });

  test("a session that is over says so: in the warning, and in its health", async () => {
    await server.session({ name: "old", origin: site.origin, cookies: "sid=of-last-year" });
    const view = await crawl({ session_id: "old" });
    assert.match(
      view.warnings.map(({ message }) => message).join(),
      /the session old looks expired: the site redirected to \/login/,
    );
    const page_ = await server.run({ target_url: site.url("/members"), strategy: "http", session_id: "old" });
    assert.deepEqual([page_.status, page_.stats["final_url"]], ["completed", `${site.url("/login")}?next=%2Fmembers`]);
    assert.match(page_.warnings.map(({ message }) => message).join(), /^the session old looks expired/);
    const { health } = (await server.api.get("/sessions/old")).json<SessionView>();
    assert.equal(health?.status, "rejected");
  });

  test("a session of another origin is refused with the field's name", async () => {
    await server.session({ name: "foreign", origin: "https://a.example", cookies: "sid=x" });
    const refused = await server.api.post("/scraping/async-scrape", { url: site.url("/"), session_id: "foreign" });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /session_id: the session belongs to https:\/\/a\.example and is not sent to/);
    const unknown = await server.api.post("/jobs", {
      kind: "crawl",
      target_url: site.url("/"),
      crawl: { session_id: "nobody" },
    });
    assert.match(unknown.text, /crawl\.session_id: there is no session with this id or name/);
  });

  test("cookies are taken as JSON and as a cookies.txt; those of other sites and old ones are left out", async () => {
    const jar = (rows: string[]) => ["# Netscape HTTP Cookie File", ...rows].join("\n");
    const host = new URL(site.origin).hostname;
    const store = (cookies: string, name: string) =>
      server.api.post("/sessions", { name, origin: site.origin, cookies });
    const good = await store(
      jar([`${host}\tFALSE\t/\tFALSE\t0\tsid\t${COOKIE}`, "b.example\tFALSE\t/\tFALSE\t0\tother\tx"]),
      "from a file",
    );
    assert.equal(good.status, 201, good.text);
    assert.equal((await crawl({ session_id: "from a file", max_depth: 0 })).sign_in_items, 0);
    const foreign = await store(jar(["b.example\tFALSE\t/\tFALSE\t0\tother\tx"]), "x");
    assert.match(foreign.text, /cookies: none of the 1 cookies belongs to/);
    assert.match(
      (await store(jar([`${host}\tFALSE\t/\tFALSE\t1000\tsid\tx`]), "x")).text,
      /cookies: all of the cookies have expired/,
    );
    assert.match((await store(JSON.stringify([{ sid: "x" }]), "x")).text, /entry 1 of the list has no name and value/);
    assert.match((await store("sid=y", "from a file")).text, /name: another session has this name/);
    assert.match(
      (await store("sid=y", "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c")).text,
      /name: must not have the form of an id/,
    );
  });

  test("rules are tried on a page as the session sees it", async () => {
    const preview = async (session_id?: string) =>
      server.client.extract.preview({
        url: site.url("/members/2"),
        strategy: "http",
        ...(session_id && { session_id }),
      });
    await server.session({ name: "for rules", origin: site.origin, cookies: { sid: COOKIE } });
    const inside = await preview("for rules");
    assert.deepEqual([inside.title, inside.http_status, inside.warnings], ["Member page 2", 200, []]);
    const outside = await preview();
    assert.deepEqual([outside.title, outside.warnings[0]?.rule], ["Sign in", "sign-in"]);
    assert.match(outside.final_url ?? "", /\/login\?next=/);
  });
});
