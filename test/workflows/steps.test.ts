import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { article, firstTimes, hang, held, json, page, sendTo, status, tooMany } from "../support/misbehaviours.ts";
import { outputOf, signal, Workshop } from "./kit.ts";

const call = (url: string, more: Record<string, unknown> = {}) => ({ task_type: "webhook", params: { url, ...more } });

describe("steps of a workflow", { concurrency: 4 }, () => {
  let shop: Workshop;
  before(async () => {
    shop = await Workshop.open({ APP_WEBHOOK_SECRET: "a secret of 24 characters".replaceAll(" ", "-") });
  });
  after(() => shop[Symbol.asyncDispose]());

  test("branches that wait for nothing of each other are at work at once, and what needs both comes last", async () => {
    await using site = await MisbehavingSite.start({ "/last": json({}) });
    const both = Promise.all([site.visited("/left"), site.visited("/right")]);
    for (const path of ["/left", "/right"]) site.on(path, held(both, json({ side: path.slice(1) })));
    const { run, states } = await shop.run([
      { name: "left", ...call(site.url("/left")) },
      { name: "right", ...call(site.url("/right")) },
      { name: "last", ...call(site.url("/last")), dependencies: ["left", "right"] },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(states, { left: "completed", right: "completed", last: "completed" });
    const [last] = site.of("/last");
    for (const path of ["/left", "/right"]) assert.ok(site.of(path)[0]!.endedAt! <= last!.at);
  });

  test("what a step put out stands in the params of the next one", async () => {
    await using site = await MisbehavingSite.start({
      "/ask": json({ next: "/third", ids: [1, 2] }),
      "/third": json({}),
    });
    const { run } = await shop.run(
      [
        { name: "ask", ...call("${{ params.origin }}/ask") },
        {
          name: "tell",
          ...call("${{ params.origin }}${{ steps.ask.output.answer.next }}", {
            body: { ids: "${{ steps.ask.output.answer.ids }}" },
          }),
          dependencies: ["ask"],
        },
      ],
      { origin: site.origin },
    );
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(JSON.parse(site.of("/third")[0]!.body), { ids: [1, 2] });
  });

  test("headers of a scrape are not sent to a second origin", async () => {
    await using site = await MisbehavingSite.start({ "/a": json({}) });
    await using other = await MisbehavingSite.start({ "/b": json({}) });
    const { run, steps } = await shop.run([
      {
        name: "pages",
        task_type: "scrape",
        params: { urls: [site.url("/a"), other.url("/b")], headers: { "x-key": "secret" } },
        max_retries: 0,
      },
    ]);
    assert.equal(run.status, "failed");
    assert.match(steps.get("pages")!.task.failure?.message ?? "", /headers are sent to one origin only/);
    assert.deepEqual([site.of("/a").length, other.of("/b").length], [0, 0]);
  });

  test("a step whose condition is not met is left out, and those after it go on", async () => {
    await using site = await MisbehavingSite.start({ "/ask": json({ many: 3 }), "/few": json({}), "/end": json({}) });
    const { run, states, steps } = await shop.run([
      { name: "ask", ...call(site.url("/ask")) },
      { name: "few", ...call(site.url("/few")), dependencies: ["ask"], when: "steps.ask.output.answer.many < 2" },
      { name: "end", ...call(site.url("/end")), dependencies: ["few"] },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    assert.deepEqual(states, { ask: "completed", few: "skipped", end: "completed" });
    assert.match(JSON.stringify(steps.get("few")?.task.detail), /condition is not met/);
    assert.equal(site.count("/few"), 0);
  });

  test("a failed step takes along what needs it, and nothing else", async () => {
    await using site = await MisbehavingSite.start({ "/bad": status(404), "/good": json({}), "/more": json({}) });
    const { run, states, steps } = await shop.run([
      { name: "bad", ...call(site.url("/bad")) },
      { name: "good", ...call(site.url("/good")) },
      { name: "behind", ...call(site.url("/behind")), dependencies: ["bad"] },
      { name: "further", ...call(site.url("/behind")), dependencies: ["behind"] },
      { name: "more", ...call(site.url("/more")), dependencies: ["good"] },
    ]);
    assert.equal(run.status, "failed");
    assert.deepEqual(states, {
      bad: "failed",
      good: "completed",
      behind: "skipped",
      further: "skipped",
      more: "completed",
    });
    // An answer that is final is not asked for again.
    assert.equal(site.count("/bad"), 1);
    assert.equal(steps.get("bad")?.task.failure?.reason, "http_not_found");
  });

  test("what failed for a moment is tried again after a second, under the same id and newly signed [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": firstTimes(1, status(500), json({})) });
    const secret = { body: { a: 1 }, headers: { authorization: "open-sesame" } };
    const { run, steps, id } = await shop.run([{ name: "call", ...call(site.url("/"), secret) }]);
    assert.equal(run.status, "completed", run.message ?? "");
    const kept = shop.server.stored().filter(({ bytes }) => bytes.includes("open-sesame"));
    assert.deepEqual(kept, [], "the value of a header stands nowhere on the disk");
    const [first, second] = site.of("/");
    assert.ok(second!.at - first!.endedAt! >= 1000);
    assert.equal(first!.headers["x-orb-id"], second!.headers["x-orb-id"]);
    for (const { headers, body } of [first!, second!]) {
      const signed = createHmac("sha256", shop.server.config.webhookSecret!)
        .update(`${headers["x-orb-timestamp"]}.${body}`)
        .digest("hex");
      assert.equal(headers["x-orb-signature"], `sha256=${signed}`);
      assert.deepEqual(JSON.parse(body), { a: 1 });
      assert.equal(headers["authorization"], "open-sesame");
    }
    assert.equal(steps.get("call")?.task.attempts.length, 2);
    const messages = (await shop.server.events(id)).map(({ message }) => message);
    assert.ok(
      messages.some((message) => /Retry scheduled: .* in 1(\.1)? s/.test(message)),
      messages.join("\n"),
    );
  });

  test("tries are 1, 2 and 4 seconds apart, however it is that they fail [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": firstTimes(2, status(500), tooMany()) });
    const id = await shop.begin([{ name: "call", ...call(site.url("/")) }]);
    await shop.server.said(id, /Retry scheduled: .* in 4/);
    await shop.cancel(id);
    assert.equal((await shop.ended(id)).status, "cancelled");
    const messages = (await shop.server.events(id)).flatMap(
      ({ message }) => /Retry scheduled: .*? in ([\d.]+) s/.exec(message)?.[1] ?? [],
    );
    const { attempts } = (await shop.step(id, "call")).task;
    for (const [index, seconds] of [1, 2, 4].entries()) {
      const said = Number(messages[index]);
      assert.ok(said >= seconds && said <= seconds * 1.1, `try ${index + 1}: ${messages.join(", ")}`);
      const [before, after] = [attempts[index]!, attempts[index + 1]];
      if (after === undefined) continue;
      const waited = Date.parse(after.started_at) - (Date.parse(before.started_at) + before.duration_ms);
      assert.ok(waited >= seconds * 1000 - 5, `${waited} ms after try ${index + 1}`);
    }
    assert.ok(attempts.length >= 3 && messages.length >= 3);
  });

  test("a step that takes longer than its timeout fails for that reason, and its request is ended", async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    const { run, steps } = await shop.run([{ name: "slow", ...call(site.url("/")), timeout: 0.3, max_retries: 0 }]);
    assert.equal(run.status, "failed");
    const { failure } = steps.get("slow")!.task;
    assert.deepEqual([failure?.code, failure?.reason], ["timeout", "step_timeout"]);
    await site.when(() => site.open === 0, "nothing is open");
  });

  test("params that are wrong once they are resolved fail the step for good, and say where", async () => {
    await using site = await MisbehavingSite.start({ "/ask": json({ seconds: "soon" }) });
    const { run, steps } = await shop.run([
      { name: "ask", ...call(site.url("/ask")) },
      {
        name: "wait",
        task_type: "wait",
        params: { seconds: "${{ steps.ask.output.answer.seconds }}" },
        dependencies: ["ask"],
      },
    ]);
    assert.equal(run.status, "failed");
    const { failure, attempts } = steps.get("wait")!.task;
    assert.equal(failure?.reason, "step_params");
    assert.match(failure!.message, /params\.seconds/);
    assert.equal(attempts.length, 1);
  });

  test("a webhook without a body tells what the steps before it put out [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/page": article("One"), "/hook": json({}) });
    const { run, id } = await shop.run([
      { name: "page", task_type: "scrape", params: { url: site.url("/page"), fields: ["title"] } },
      { name: "tell", ...call(site.url("/hook")), dependencies: ["page"] },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    const body = JSON.parse(site.of("/hook")[0]!.body);
    assert.equal(body.workflow_id, id);
    assert.equal(body.steps.page.records, 1);
  });

  test("a webhook that leads elsewhere has not taken anything, and is not followed", async () => {
    await using site = await MisbehavingSite.start({
      "/hook": sendTo("/login"),
      "/login": json({}),
      "/null": json({}),
    });
    const { steps } = await shop.run([
      { name: "tell", ...call(site.url("/hook"), { body: { a: 1 } }) },
      { name: "null", ...call(site.url("/null"), { body: null }) },
    ]);
    assert.equal(steps.get("tell")?.task.failure?.reason, "bad_redirect");
    assert.match(steps.get("tell")?.task.failure?.message ?? "", /answered 302 \(redirect to .*\/login/);
    assert.deepEqual([site.count("/hook"), site.count("/login")], [1, 0]);
    assert.equal(site.of("/null")[0]?.body, "null", "what is said is sent");
  });

  test("a step that hands nothing on leaves no file, and none comes to those after it", async () => {
    const { run, steps } = await shop.run([
      { name: "wait", task_type: "wait", params: { seconds: 0 } },
      { name: "validate", task_type: "validate", params: { kind: "file" }, dependencies: ["wait"] },
      {
        name: "each",
        task_type: "wait",
        params: { seconds: 0 },
        for_each: { in: "${{ steps.validate.items }}" },
        dependencies: ["validate"],
      },
      { name: "last", task_type: "deduplicate", dependencies: ["each"] },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    for (const step of steps.values()) {
      assert.deepEqual(await shop.items(step), [], step.name);
      assert.deepEqual(await shop.store.artifactsOf(step.task.id), [], step.name);
    }
  });

  test("an address that the guard refuses is not asked, and fails for good", async () => {
    const { run, steps } = await shop.run([
      { name: "wait", task_type: "wait", params: { seconds: 0 } },
      { name: "call", ...call("http://10.1.2.${{ steps.wait.output.waited_seconds }}/"), dependencies: ["wait"] },
    ]);
    assert.equal(run.status, "failed");
    assert.deepEqual(
      [steps.get("call")!.task.failure?.code, steps.get("call")!.task.attempts.length],
      ["forbidden_target", 1],
    );
  });
});

test("sleeping steps hold no place: with one worker two that wait and one that scrapes are all done [slow]", async () => {
  await using site = await MisbehavingSite.start({ "/": page("Page") });
  await using shop = await Workshop.open({ APP_MAX_WORKERS: "1" });
  const scraped = signal();
  site.on("/", (visit, response, on) => {
    scraped.give();
    return page("Page")(visit, response, on);
  });
  const id = await shop.begin([
    { name: "one", task_type: "wait", params: { seconds: 3600 } },
    { name: "two", task_type: "wait", params: { until: "2099-01-01T00:00:00Z" } },
    { name: "page", task_type: "scrape", params: { url: site.url("/"), fields: ["title"] } },
    { name: "soon", task_type: "wait", params: { seconds: 0.2 }, dependencies: ["page"] },
  ]);
  await scraped.promise;
  await shop.until(async () => (await shop.step(id, "soon")).task.state === "completed", "the last one is done");
  for (const name of ["one", "two"]) assert.equal((await shop.asleep(id, name, "time")).task.tries, 0);
  assert.deepEqual(outputOf(await shop.step(id, "page")), {
    pages: 1,
    failed: 0,
    records: 1,
    first: { title: "Page" },
    run_id: (await shop.step(id, "page")).childRuns[0],
  });
  await shop.cancel(id);
  assert.equal((await shop.ended(id)).status, "cancelled");
});
