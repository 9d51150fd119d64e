import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { OrbweaverError } from "../../src/api-client/client.ts";
import { openClient } from "../../src/app/context.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, signIn } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const product = (title: string, price: string, more = "") =>
  html(`<title>${title}</title><h1>${title}</h1><b class="price">${price}</b>${more}`);

const SHOP = {
  "/": html('<a href="/p/1">1</a><a href="/p/2">2</a><a href="/p/3">3</a><a href="/p/4">4</a>'),
  "/p/1": product("Lamp", "€ 10.00"),
  "/p/2": product("Chair", "€ 20.00", '<p class="note">New</p>'),
  "/p/3": product("Table", "€ 30.00"),
  "/p/4": product("Sofa", "ask us"),
};
const FIELDS = { title: { css: "h1", required: true }, price: { css: ".price", type: "number" }, note: ".note" };

describe("rules that are tested on saved pages", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    server = await TestServer.open();
    site = await MisbehavingSite.start(SHOP);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const crawl = async (more: object = {}) =>
    (
      await server.job({
        kind: "crawl",
        target_url: site.url("/"),
        crawl: { max_depth: 1, fields: FIELDS, read: ["/p/**"], follow: ["/**"] },
        ...more,
      } as never)
    ).id;
  const fixtures = (job: string) => server.client.jobs.fixtures(job);
  const paths = async (job: string) => (await fixtures(job)).map(({ url }) => new URL(url).pathname).toSorted();
  const refusal = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => assert.fail("it is refused"),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof OrbweaverError);
    return error;
  };

  test("a crawl saves its good pages, and a changed rule is compared with what they gave, without a request", async () => {
    const job = await crawl();
    assert.equal((await server.client.jobs.get(job)).fixtures, 5);
    assert.equal((await server.run(job)).status, "completed");
    assert.deepEqual(await paths(job), ["/p/1", "/p/2", "/p/3"], "not the one with a warning");
    const [first] = await fixtures(job);
    assert.deepEqual([first?.records, first?.encrypted, first?.content_type], [1, false, "text/html; charset=utf-8"]);
    const visits = site.visits.length;

    const same = await server.client.jobs.test(job, null);
    assert.equal(same.passed, true);
    assert.deepEqual(same.summary, { pages: 3, lost: 0, changed: 0, new: 0, same: 9, failed: 0 });

    const changed = await server.client.jobs.test(job, {
      fields: { ...FIELDS, title: "title", price: { css: ".cost", type: "number" }, note: { css: "p" }, tag: "b" },
    });
    assert.equal(changed.passed, false);
    assert.deepEqual(changed.summary, { pages: 3, lost: 3, changed: 0, new: 3, same: 6, failed: 0 });
    const lamp = changed.pages.find(({ url }) => url.endsWith("/p/1"));
    assert.deepEqual(
      lamp?.fields.map(({ field, result, differences }) => [field, result, differences]),
      [
        ["title", "same", []],
        ["price", "lost", [{ record: 0, before: 10, now: null }]],
        ["note", "same", []],
        ["tag", "new", [{ record: 0, before: null, now: "€ 10.00" }]],
      ],
    );

    const failing = await server.client.jobs.test(job, { fields: { ...FIELDS, title: { css: "h2", required: true } } });
    assert.equal(failing.summary.failed, 3);
    assert.match(failing.pages[0]?.error ?? "", /^title: /);
    const wrong = await refusal(server.client.jobs.test(job, { fields: { title: { css: "[[" } } }));
    assert.equal(wrong.status, 422);
    assert.match(wrong.errors[0]?.path ?? "", /^fields\.title/);
    assert.equal(site.visits.length, visits, "nothing was fetched");
    assert.deepEqual((await server.client.jobs.get(job)).crawl?.fields, FIELDS, "nothing was saved");
  });

  test("the site changes, the rule is adapted, and the next run's pages are the new measure", async () => {
    await using changing = await MisbehavingSite.start({ "/": product("Lamp", "€ 10.00") });
    const { id } = await server.job({ target_url: changing.url("/"), fields: FIELDS } as never);
    await server.run(id);
    changing.on("/", html('<h1>Lamp</h1><i itemprop="price">€ 11.00</i>'));
    // The page has no price now: it does not replace the one that has.
    await server.run(id);
    const [saved] = await fixtures(id);
    const better = { ...FIELDS, price: { css: ".price, [itemprop=price]", type: "number" } };
    assert.equal((await server.client.jobs.test(id, { fields: better })).passed, true);
    await server.client.jobs.change(id, { fields: better });
    await server.run(id);
    const [renewed] = await fixtures(id);
    assert.notEqual(renewed?.run_id, saved?.run_id);
    assert.equal((await server.client.jobs.test(id, null)).passed, true);
    const lost = await server.client.jobs.test(id, { fields: FIELDS });
    assert.deepEqual(lost.pages[0]?.fields[1]?.differences, [{ record: 0, before: 11, now: null }]);
  });

  test("without saved pages, the answer says what to do", async () => {
    const job = await crawl();
    const none = await refusal(server.client.jobs.test(job, null));
    assert.deepEqual([none.status, none.code], [409, "no_fixtures"]);
    assert.match(none.hint ?? "", /orb jobs run/);
    const off = await crawl({ fixtures: 0 });
    await server.run(off);
    assert.deepEqual(await fixtures(off), []);
    assert.match((await refusal(server.client.jobs.test(off, null))).hint ?? "", /--fixtures 5/);
    const { id } = await server.job({ target_url: site.url("/p/1") });
    assert.match((await refusal(server.client.jobs.test(id, null))).message, /no rules/);
    for (const fixtures of [-1, 21, 1.5])
      assert.equal((await refusal(crawl({ fixtures }))).errors[0]?.path, "fixtures");
    const workflow = await refusal(
      server.client.jobs.create({ kind: "workflow", fixtures: 1, workflow: { template: "price-monitor" } } as never),
    );
    assert.ok(workflow.errors.some(({ path }) => path === "fixtures"));
  });

  test("saved pages are deleted one by one, with a smaller number, and with their job; the sweep removes their files", async () => {
    // Equal content is one file: no other job has these pages.
    const ownPages = [1, 2, 3].map((n) => [`/p/${n}`, product(`Desk ${n}`, "€ 31.00")]);
    await using own = await MisbehavingSite.start({ ...SHOP, ...Object.fromEntries(ownPages) });
    const job = await crawl({ target_url: own.url("/") });
    const run = await server.run(job);
    const [first] = await fixtures(job);
    await server.client.jobs.deleteFixture(job, String(first?.number));
    assert.equal((await fixtures(job)).length, 2);
    assert.equal((await refusal(server.client.jobs.deleteFixture(job, String(first?.number)))).status, 404);
    await server.client.jobs.change(job, { fixtures: 1 });
    assert.equal((await fixtures(job)).length, 1);
    await using client = await openClient(server.config);
    const [{ hash } = { hash: "" }] = (await client.store.fixtures(job))?.list ?? [];
    await server.client.runs.delete(run.id);
    assert.equal((await server.client.jobs.test(job, null)).passed, true, "the run is not needed");
    assert.equal(await client.store.isOrphaned(hash), false);
    await server.client.jobs.delete(job);
    assert.equal(await client.store.isOrphaned(hash), true);
  });

  test("a page behind a sign-in is stored encrypted, with its records", async () => {
    const text = "Balance-of-Ana-7731";
    const { members } = signIn({ name: "ana", password: "hunter2" }, { name: "sid", value: "s-1" });
    await using bank = await MisbehavingSite.start({
      "/account": members(html(`<title>Account</title><h1>Ana</h1><div>${text}</div>`)),
    });
    const { id: session } = await server.session({ origin: bank.origin, cookies: { sid: "s-1" } });
    const { id } = await server.job({
      target_url: bank.url("/account"),
      session_id: session,
      fields: { owner: { css: "h1", required: true } },
    } as never);
    assert.equal((await server.run(id)).status, "completed");
    const [saved] = await fixtures(id);
    assert.equal(saved?.encrypted, true);
    assert.equal((await server.client.jobs.test(id, null)).passed, true);
    const found = server.stored().filter(({ bytes }) => bytes.includes(text));
    assert.deepEqual(found, [], "no file has the page's text");
    using db = new DatabaseSync((server.config.database as { path: string }).path, { readOnly: true });
    const row = db.prepare("SELECT records FROM fixtures WHERE n = ?").get(saved.number);
    assert.doesNotMatch(String(row?.["records"]), /Ana|owner/);
  });
});
