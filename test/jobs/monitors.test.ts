import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, sendTo, status, tooMany } from "../support/misbehaviours.ts";
import { tagged } from "../support/versioned-pages.ts";
import { TestServer } from "./kit.ts";

const page = (title: string, ...lines: string[]) =>
  html(`<title>${title}</title><h1>${title}</h1>${lines.map((line) => `<p>${line}</p>`).join("")}`);
const links = (...paths: string[]) => paths.map((path) => `<a href="${path}">to ${path}</a>`).join(" ");

describe("a job with a monitor", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const changesOf = (job: string) => server.client.jobs.changes(job, { limit: 100 }).take();

  /** Runs the job, and waits until its pages are compared. */
  const compared = async (job: string): Promise<RunView> => {
    const { id } = await server.run(job);
    await until(async () => (await server.show(id)).monitor !== null, "its pages are compared");
    return server.show(id);
  };
  const save = async (input: JobInput) => (await server.job(input)).id;

  test("shows what it leaves out although nothing has changed", async () => {
    const sayings = "Press Drag Sort Click Type Search Open Close Print Share".split(" ");
    let visits = 0;
    await using site = await MisbehavingSite.start({
      "/": (...request) => {
        visits += 1;
        const hint = `<aside class="hint"><p>${sayings[visits % 10]} and ${sayings[(visits * 7) % 10]}!</p></aside>`;
        return html(`<title>Kettle</title><h1>Kettle</h1><p>It boils water.</p>${hint}`)(...request);
      },
    });
    const job = await save({ target_url: site.url("/"), monitor: { what: "text" } });
    const places = () => server.client.jobs.ignoredPlaces(job, { limit: 5 }).take();
    await compared(job);
    assert.deepEqual(await places(), []);
    await compared(job);
    assert.deepEqual(await changesOf(job), []);
    const [page] = await places();
    assert.deepEqual(
      [page?.url, page?.places.map(({ kind, place }) => [kind, place])],
      [site.url("/"), [["place", "aside.hint > p"]]],
    );
    assert.match(page!.places[0]!.texts[0]!, / and .*!$/);
    await server.client.jobs.change(job, { monitor: { what: "text", watch: ["aside.hint > p"] } });
    assert.deepEqual(await places(), [], "what the user watches is not left out");
  });

  test("tells what changed on its page, without the noise, with the difference and an event", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Kettle", "Price: € 20", "1,200 views", "Updated 3 minutes ago"),
    });
    const job = await save({ target_url: site.url("/"), monitor: { what: "text" } });
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 }, "the first run is the measure");
    site.on("/", page("Kettle", "Price: € 20", "1,345 views", "Updated 2 hours ago"));
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 });
    assert.equal(site.of("/").length, 2, "noise alone is no reason to fetch the page again");
    site.on("/", page("Kettle", "Price: € 18", "1,350 views", "Updated 5 hours ago"));
    const run = await compared(job);
    assert.deepEqual(run.monitor, { new: 0, changed: 1, removed: 0 });
    const [change] = await changesOf(job);
    assert.deepEqual(
      [change?.number, change?.change, change?.run_id, change?.summary, change?.url],
      [1, "changed", run.id, "20 → 18", site.url("/")],
    );
    const { diff, contents } = await server.client.jobs.pageChange(job, "1");
    assert.match(diff?.unified ?? "", /^-Price: € 20\n\+Price: € 18$/m);
    assert.doesNotMatch(diff?.unified ?? "", /^[-+].*views/m, "noise is shown, and not as a change");
    assert.deepEqual(contents, ["before", "after"]);
    const content = await server.api.get(`/jobs/${job}/changes/1/before`);
    assert.match(content.text, /€ 20/);
    const events = (await server.events(run.id)).filter(({ type }) => type === "monitor.changed");
    assert.equal(events.length, 1);
    const alerts = (await server.client.alerts.list({ limit: 50 }).take()).filter(
      ({ kind }) => kind === "monitor_changed",
    );
    assert.equal(alerts.filter(({ subject }) => subject === job).length, 1);
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 }, "it is told once");
  });

  test("learns what the page changes on its own, by a second fetch of what differs [slow]", async () => {
    const slogans = ["Win a boat", "Eat more bread today", "Seven shoes for cats", "Learn the tuba", "A goat for all"];
    let price = 20;
    await using site = await MisbehavingSite.start({
      "/": (visit, response, itself) =>
        page(
          "Kettle",
          `Price: € ${price}`,
          "Sponsored",
          slogans[visit.nth % slogans.length]!,
          "Boils water.",
        )(visit, response, itself),
    });
    const job = await save({ target_url: site.url("/"), monitor: { what: "text" } });
    for (let run = 0; run < 4; run += 1)
      assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 });
    const before = site.of("/").length;
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 });
    assert.equal(site.of("/").length, before + 1, "a known place is not fetched twice");
    price = 21;
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 });
    assert.equal((await changesOf(job))[0]?.summary, "20 → 21");
  });

  test("finds a new member and another price in a list that each fetch shows in another order [slow]", async () => {
    const goods = ["Lamp € 4", "Rug € 5", "Vase € 6", "Stool € 7", "Bench € 8", "Clock € 9"];
    await using site = await MisbehavingSite.start({
      "/": (visit, response, itself) => {
        const from = (visit.nth * 5) % goods.length;
        const members = [...goods.slice(from), ...goods.slice(0, from)].map((name) => `<li>${name}</li>`);
        return html(`<title>Goods</title><h1>Goods</h1><h2>You may like</h2><ul>${members.join("")}</ul>`)(
          visit,
          response,
          itself,
        );
      },
    });
    const job = await save({ target_url: site.url("/"), monitor: { what: "text" } });
    for (let run = 0; run < 3; run += 1)
      assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 }, `run ${run}`);
    goods[2] = "Vase € 3";
    goods.push("Mirror € 2");
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 });
    const [change] = await changesOf(job);
    const { diff } = await server.client.jobs.pageChange(job, String(change?.number));
    const lines = diff!.unified.split("\n").filter((line) => /^[-+]\w/.test(line));
    assert.deepEqual(lines.toSorted(), ["+Mirror € 2", "+Vase € 3", "-Vase € 6"]);
  });

  test("shows what it left out, and counts it once the user wants that [slow]", async () => {
    let address = "Main street 1";
    const words = "Press Drag Sort Click Type Search Open Close Print Share Save Send Copy".split(" ");
    const hints = words.map((word, at) => `${word} ${words.at(-at)} now`);
    await using site = await MisbehavingSite.start({
      "/": (visit, response, itself) =>
        html(
          `<title>Kettle</title><h1>Kettle</h1><p>${address}</p><aside class="hint"><p>${hints[visit.nth % hints.length]!}</p></aside><p>Imprint</p>`,
        )(visit, response, itself),
    });
    const job = await save({ target_url: site.url("/"), monitor: { what: "text" } });
    for (let run = 0; run < 3; run += 1)
      assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 }, `run ${run}`);
    address = "Harbour street 7";
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 });
    const { diff } = await server.client.jobs.pageChange(job, "1");
    const [ignored] = diff!.ignored;
    assert.equal(diff!.ignored.length, 1);
    assert.deepEqual([ignored?.kind, ignored?.place], ["place", "aside.hint > p"]);
    assert.ok(hints.includes(ignored!.before[0]!) && hints.includes(ignored!.after[0]!));
    await server.client.jobs.change(job, { monitor: { what: "text", watch: [ignored!.place!] } });
    const run = await compared(job);
    assert.deepEqual(run.monitor, { new: 0, changed: 1, removed: 0 }, "from the next run on");
  });

  test("learns from three pages of a site what changes on all of them [slow]", async () => {
    const slogans = ["Win a boat", "Eat more bread", "Seven shoes for cats", "Learn the tuba", "A goat for all"];
    const withAd =
      (name: string): ReturnType<typeof html> =>
      (visit, response, itself) =>
        html(
          `<title>${name}</title><h1>${name}</h1><p>Words of ${name}.</p><div class="promo"><p>${slogans[visit.nth % slogans.length]!}</p></div>`,
        )(visit, response, itself);
    const names = ["a", "b", "c", "d"];
    await using site = await MisbehavingSite.start({
      "/": page("Shop", links(...names.map((name) => `/${name}`))),
      ...Object.fromEntries(names.slice(0, 3).map((name) => [`/${name}`, withAd(name)])),
      "/d": page("d", "Words of d."),
    });
    const job = await save({ kind: "crawl", target_url: site.url("/"), monitor: { what: "text" } });
    for (let run = 0; run < 2; run += 1)
      assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 }, `run ${run}`);
    site.on("/d", withAd("d"));
    const before = site.of("/d").length;
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 });
    assert.equal(site.of("/d").length, before + 1, "the fourth page is not fetched again");
  });

  test("fetches a page again at most three times while its fetches are alike, and not at all for a price [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Kettle", "Boils water.", "Price: € 20") });
    const job = await save({ target_url: site.url("/"), monitor: { what: "text" } });
    await compared(job);
    site.on("/", page("Kettle", "Boils milk.", "Price: € 20"));
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 });
    assert.equal(site.of("/").length, 5);
    site.on("/", page("Kettle", "Boils milk.", "Price: € 18"));
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 });
    assert.equal(site.of("/").length, 6);
  });

  test("keeps to the site when it refuses the second fetch, and compares the first one [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Kettle", "Boils water.") });
    const job = await save({ target_url: site.url("/"), monitor: { what: "text" } });
    await compared(job);
    const before = site.of("/").length;
    site.on("/", (visit, response, itself) =>
      visit.nth === before + 1
        ? page("Kettle", "Boils milk.")(visit, response, itself)
        : tooMany("600")(visit, response, itself),
    );
    const run = await compared(job);
    assert.deepEqual([run.status, run.monitor], ["completed", { new: 0, changed: 1, removed: 0 }]);
    assert.equal(site.of("/").length, before + 2);
    const { held_until: until } = await server.client.sites.get(new URL(site.url("/")).host);
    assert.ok(until !== null, "nothing else is fetched for as long as the site asked for");
  });

  test("keeps the delay of a crawl before a second fetch [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Kettle", "Boils water.") });
    const crawl = { delay_seconds: 2.5 };
    const job = await save({ kind: "crawl", target_url: site.url("/"), crawl, monitor: { what: "text" } });
    await compared(job);
    site.on("/", page("Kettle", "Boils milk."));
    await compared(job);
    const [, second, third] = site.of("/");
    assert.ok(third!.at - second!.at >= 2000, `${third!.at - second!.at} ms`);
  });

  test("tells new, changed and removed pages of a crawl, and nothing of pages that failed [slow]", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Shop", links("/a", "/b", "/c", "/d", "/f")),
      "/a": tagged("1", "<title>A</title><p>Words of A.</p>"),
      "/b": page("B", "Words of B."),
      "/c": page("C", "Words of C."),
      "/d": page("D", "Words of D."),
      "/f": page("F", "Words of F."),
    });
    const crawl = { retry_attempts: 0 };
    const job = await save({ kind: "crawl", target_url: site.url("/"), crawl, monitor: { what: "text" } });
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 });
    site.on("/b", page("B", "Other words of B."));
    site.on("/c", status(404));
    site.on("/f", status(500));
    const second = await compared(job);
    assert.equal(second.status, "partial");
    assert.deepEqual(second.monitor, { new: 0, changed: 1, removed: 1 });
    site.on("/", page("Shop", links("/a", "/b", "/e", "/f")));
    site.on("/e", page("E", "Words of E."));
    site.on("/f", page("F", "Words of F."));
    const third = await compared(job);
    assert.equal(third.status, "completed");
    assert.deepEqual(third.monitor, { new: 1, changed: 1, removed: 1 }, "E is new, the list changed, D is not linked");
    const listed = (await changesOf(job)).map(({ change, url }) => `${change} ${new URL(url).pathname}`);
    assert.deepEqual(listed.toSorted(), ["changed /", "changed /b", "new /e", "removed /c", "removed /d"]);
  });

  for (const [what, instead] of [
    ["leads to a sign-in", sendTo("/login")],
    ["is a file", html("PK", 200, { "content-type": "application/zip" })],
  ] as const)
    test(`does not call pages removed while a page that leads to them ${what} [slow]`, async () => {
      await using site = await MisbehavingSite.start({
        "/": page("Shop", links("/list", "/account")),
        "/list": page("List", links("/a")),
        "/a": page("A", "Words of A."),
        "/account": sendTo("/login"),
        "/login": html("<title>Sign in</title><form><input type=password></form>"),
      });
      const crawl = { retry_attempts: 0 };
      const job = await save({ kind: "crawl", target_url: site.url("/"), crawl, monitor: { what: "text" } });
      await compared(job);
      site.on("/list", instead);
      const second = await compared(job);
      assert.equal(second.status, "completed");
      assert.deepEqual(second.monitor, { new: 0, changed: 0, removed: 0 });
      site.on("/list", page("List", "Sold out."));
      const third = await compared(job);
      assert.deepEqual(
        third.monitor,
        { new: 0, changed: 1, removed: 1 },
        "a page that always asks for it hides nothing",
      );
      assert.deepEqual(
        (await changesOf(job)).map(({ change, url }) => `${change} ${new URL(url).pathname}`).toSorted(),
        ["changed /list", "removed /a"],
      );
    });

  test("compares records field by field, and never learns a field away [slow]", async () => {
    let stock = 5;
    const item = (name: string, price: string) => `<li><b>${name}</b><i>${price}</i></li>`;
    const list = (...items: string[]) => html(`<title>List</title><ul>${items.join("")}</ul><p>${stock}</p>`);
    await using site = await MisbehavingSite.start({
      "/": list(item("Ann", "10"), item("Bob", "20"), item("Cid", "30")),
    });
    const fields = { items: "li", fields: { name: "b", price: "i" } };
    const job = await save({ target_url: site.url("/"), ...fields, monitor: { what: "fields", key: "name" } });
    await compared(job);
    stock += 1;
    site.on("/", list(item("Ann", "11"), item("Cid", "30"), item("Dan", "40")));
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 });
    const { diff } = await server.client.jobs.pageChange(job, "1");
    assert.deepEqual(
      diff?.records?.map(({ key, change }) => `${change} ${String(key)}`),
      ["changed Ann", "new Dan", "removed Bob"],
    );
    assert.deepEqual(diff?.records?.[0]?.fields, { price: { before: "10", after: "11" } });
    for (let price = 12; price < 22; price += 1) {
      site.on("/", list(item("Ann", String(price)), item("Cid", "30"), item("Dan", "40")));
      assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 }, `price ${price}`);
    }
  });

  test("leaves out what the user ignores, and counts small changes until they are large enough [slow]", async () => {
    await using site = await MisbehavingSite.start({
      "/": html('<p>one two three</p><p class="ad">buy</p><p>Ref A1</p>'),
    });
    const monitor = { what: "text", ignore: [".ad", "/Ref \\w+/"], min_words: 2 } as const;
    const job = await save({ target_url: site.url("/"), monitor: { ...monitor, ignore: [...monitor.ignore] } });
    await compared(job);
    site.on("/", html('<p>one two three</p><p class="ad">sell</p><p>Ref B2</p>'));
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 });
    site.on("/", html('<p>one two four</p><p class="ad">sell</p><p>Ref B2</p>'));
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 }, "one word is too few");
    site.on("/", html('<p>one five four</p><p class="ad">sell</p><p>Ref B2</p>'));
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 1, removed: 0 }, "two since the last change");
  });

  test("says that a page is removed when it answers 404, and new when it is back [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Kettle", "Boils water.") });
    const job = await save({ target_url: site.url("/"), max_attempts: 1, monitor: { what: "markdown" } });
    await compared(job);
    site.on("/", status(500));
    const broken = await server.run(job);
    assert.equal(broken.status, "failed");
    site.on("/", status(404));
    const gone = await compared(job);
    assert.deepEqual([gone.status, gone.monitor], ["failed", { new: 0, changed: 0, removed: 1 }]);
    assert.deepEqual((await compared(job)).monitor, { new: 0, changed: 0, removed: 0 }, "it is told once");
    site.on("/", page("Kettle", "Boils water."));
    assert.deepEqual((await compared(job)).monitor, { new: 1, changed: 0, removed: 0 });
  });

  test("is refused with the path of what is wrong", async () => {
    const answer = await server.api.post("/jobs", {
      target_url: "https://a.example/",
      monitor: { what: "screenshot", ignore: ["/(/"] },
    });
    assert.equal(answer.status, 422);
    const paths = answer.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path);
    assert.deepEqual(paths.toSorted(), ["monitor.ignore[0]", "monitor.what"]);
  });
});
