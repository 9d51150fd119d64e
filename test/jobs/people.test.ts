import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import {
  captchaWall,
  hang,
  held,
  html,
  page,
  sendTo,
  renderedAfter,
  rendered,
  status,
} from "../support/misbehaviours.ts";
import { cancelled } from "./cancelled.ts";
import { TestServer, told } from "./kit.ts";

const PASS = { name: "solved", value: "by-a-person" };
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

describe("walls that need a person", { ...browserGate, concurrency: 3 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "3" });
  });
  after(() => server[Symbol.asyncDispose]());

  const walled = () => MisbehavingSite.start({ "/": captchaWall(PASS, page("Behind the wall")) });

  async function waits(site: MisbehavingSite, more: { max_attempts?: number } = {}): Promise<string> {
    const { id } = await server.begin({ target_url: site.url("/"), ...more });
    const event = await server.said(id, /^Waiting for a person/);
    assert.deepEqual([event.meta["failure_code"], event.meta["failure_reason"]], ["blocked", "captcha_page"]);
    assert.equal((await server.show(id)).status, "waiting_for_human");
    return id;
  }

  test("the run waits with a picture of what it met, costs no attempt, and goes on with a session", async () => {
    await using site = await walled();
    const id = await waits(site, { max_attempts: 1 });
    const waiting = await server.show(id);
    assert.deepEqual([waiting.progress, waiting.failure_reason], [0, "captcha_page"]);
    const { artifacts } = await server.task(id);
    const picture = artifacts.find(({ role }) => role === "screenshot");
    const copy = artifacts.find(({ role }) => role === "snapshot");
    assert.ok(picture !== undefined && copy !== undefined, "a picture and a copy");
    const shown = await server.api.get(`/artifacts/${picture.id}`);
    assert.deepEqual([shown.status, shown.headers["content-type"]], [200, "image/png"]);
    assert.deepEqual(shown.bytes.subarray(0, 4), PNG);
    assert.equal(shown.bytes.length, picture.size);
    const source = await server.api.get(`/artifacts/${copy.id}`);
    assert.match(source.text, /verify that you are not a robot/);
    for (const { headers } of [shown, source]) {
      assert.match(String(headers["content-disposition"]), /^attachment/);
      assert.equal(headers["x-content-type-options"], "nosniff");
    }
    assert.equal(source.headers["content-type"], "text/plain; charset=utf-8", "a stranger's page is no page of ours");
    const seen = site.count("/");
    const session = await server.session({ origin: site.origin, cookies: { [PASS.name]: PASS.value } });
    const answer = await server.api.post(`/jobs/runs/${id}/resolve`, { session_id: session.id });
    assert.deepEqual([answer.status, answer.json<RunView>().status], [200, "running"], answer.text);
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.attempt, run.stats["title"]], ["completed", 1, "Behind the wall"]);
    assert.equal(site.count("/"), seen + 1);
    const story = told(await server.events(id));
    assert.deepEqual(story.slice(story.indexOf("Waiting for a person")), [
      "Waiting for a person",
      "Run resumed",
      "Run completed",
    ]);
    assert.deepEqual((await server.task(id)).artifacts, [], "what is solved needs no picture");
  });

  test("a session that does not help leaves the run waiting again", async () => {
    await using site = await walled();
    const id = await waits(site);
    const session = await server.session({ origin: site.origin, cookies: { [PASS.name]: "by-nobody" } });
    const seen = site.count("/");
    await server.api.post(`/jobs/runs/${id}/resolve`, { session_id: session.id });
    await site.visited("/", seen + 1);
    let times = 0;
    await server.follow(id, ({ message }) => message.startsWith("Waiting for a person") && (times += 1) === 2);
    assert.equal((await server.show(id)).status, "waiting_for_human");
    await server.api.post(`/jobs/runs/${id}/resolve`, { skip: true });
    assert.equal((await server.ended(id)).failure_reason, "human_skipped");
  });

  test("skip: the run fails as blocked, and says that a person decided so", async () => {
    await using site = await walled();
    const id = await waits(site);
    const answer = await server.api.post(`/jobs/runs/${id}/resolve`, { skip: true });
    assert.equal(answer.status, 200, answer.text);
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.failure_code, run.failure_reason], ["failed", "blocked", "human_skipped"]);
    assert.equal((await server.api.post(`/jobs/runs/${id}/resolve`, { skip: true })).status, 409);
  });

  test("an answer with a session that does not exist, or with both, is refused", async () => {
    await using site = await walled();
    const id = await waits(site);
    const unknown = { session_id: "00000000-0000-7000-8000-000000000000" };
    assert.equal((await server.api.post(`/jobs/runs/${id}/resolve`, unknown)).status, 422);
    for (const [body, what] of [
      [{}, "expected session_id, or skip: true"],
      [{ ...unknown, skip: true }, "expected session_id, or skip: true, not both"],
    ] as const) {
      const refused = await server.api.post(`/jobs/runs/${id}/resolve`, body);
      const { detail } = refused.json<{ detail: string }>();
      assert.deepEqual([refused.status, detail], [422, `invalid body: ${what}`]);
    }
    assert.equal((await server.api.post(`/jobs/runs/${id}/resume`)).status, 409, "it is a person it waits for");
    await cancelled(server, site, id);
  });

  test("an answer with a session of another origin is refused, and the run goes on waiting for the right one", async () => {
    await using site = await walled();
    await using other = await MisbehavingSite.start({}, "127.0.0.2");
    const id = await waits(site);
    const cookies = { [PASS.name]: PASS.value };
    const wrong = await server.session({ origin: other.origin, cookies });
    const refused = await server.api.post(`/jobs/runs/${id}/resolve`, { session_id: wrong.id });
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.text, /session_id: the session belongs to http:/);
    assert.equal((await server.show(id)).status, "waiting_for_human");
    const right = await server.session({ origin: site.origin, cookies });
    assert.equal((await server.api.post(`/jobs/runs/${id}/resolve`, { session_id: right.id })).status, 200);
    assert.equal((await server.ended(id)).status, "completed");
    assert.equal(other.visits.length, 0);
  });

  test("paused while it meets the wall: it waits for its person as soon as it goes on", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({
      "/": held(gate.promise, captchaWall(PASS, page("Behind the wall"))),
    });
    const { id } = await server.begin({ target_url: site.url("/"), strategy: "browser" });
    await site.visited("/");
    assert.equal((await server.api.post(`/jobs/runs/${id}/pause`)).status, 200);
    gate.resolve();
    await server.said(id, /^Waiting for a person/);
    assert.equal((await server.show(id)).status, "paused");
    assert.equal((await server.api.post(`/jobs/runs/${id}/resume`)).status, 200);
    let times = 0;
    await server.follow(id, ({ message }) => message.startsWith("Waiting for a person") && (times += 1) === 2);
    assert.equal((await server.show(id)).status, "waiting_for_human");
    await server.api.post(`/jobs/runs/${id}/resolve`, { skip: true });
    assert.equal((await server.ended(id)).failure_reason, "human_skipped");
  });

  test("a page that sends us to its sign-in instead waits for a session, too", async () => {
    const form = html(`<title>Sign in</title><form><input name=user><input type="password" name=word></form>`);
    await using site = await MisbehavingSite.start({ "/members": sendTo("/sign-in"), "/sign-in": form });
    const { id } = await server.begin({ target_url: site.url("/members"), requires_auth: true });
    await server.said(id, /^Waiting for a person/);
    assert.equal((await server.show(id)).failure_reason, "login_page");
    site.on("/members", page("Members"));
    const session = await server.session({ origin: site.origin, cookies: { sid: "new" } });
    await server.api.post(`/jobs/runs/${id}/resolve`, { session_id: session.id });
    assert.equal((await server.ended(id)).stats["title"], "Members");
  });

  test("a sign-in that is refused waits for a session, too", async () => {
    await using site = await MisbehavingSite.start({ "/": status(401) });
    const { id } = await server.begin({ target_url: site.url("/"), requires_auth: true });
    await server.said(id, /^Waiting for a person/);
    site.on("/", page("Members"));
    const session = await server.session({ origin: site.origin, cookies: { sid: "new" } });
    await server.api.post(`/jobs/runs/${id}/resolve`, { session_id: session.id });
    const run = await server.ended(id);
    assert.deepEqual([run.status, site.of("/").at(-1)?.headers.cookie], ["completed", "sid=new"]);
  });
});

describe("cancelling a run that a browser works on", browserGate, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "2" });
  });
  after(() => server[Symbol.asyncDispose]());

  test("while the page does not come, and while its script waits for more", async () => {
    await using site = await MisbehavingSite.start({
      "/silent": hang,
      "/waiting": renderedAfter("Waiting", "/never"),
      "/never": hang,
      "/fine": rendered("Fine"),
    });
    const silent = await server.begin({ target_url: site.url("/silent"), strategy: "browser" });
    await site.visited("/silent");
    await cancelled(server, site, silent.id);
    const waiting = await server.begin({ target_url: site.url("/waiting"), strategy: "browser" });
    await site.visited("/never");
    await cancelled(server, site, waiting.id);
    assert.deepEqual([site.count("/silent"), site.count("/waiting")], [1, 1]);
    const fine = await server.run({ target_url: site.url("/fine"), strategy: "browser" });
    assert.equal(fine.status, "completed", "the browser is there for the next one");
  });
});
