import assert from "node:assert/strict";
import { test } from "node:test";
import type { RefreshView } from "../../src/orchestrator/proxies/refresh.ts";
import type { ProxyListView } from "../../src/orchestrator/proxies/view.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { Orb } from "../chaos/orb.ts";
import { Served } from "../chaos/served.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, html, page } from "../support/misbehaviours.ts";
import { PASSWORD, startTwelve, USABLE } from "./twelve.ts";

const PAGES = 10;
const paths = Array.from({ length: PAGES }, (_, index) => `/page-${index + 1}`);

test("a check that is killed in its middle goes on, and a crawl goes through what it found and by no other way [slow]", async () => {
  await using twelve = await startTwelve({ tls: true });
  const gate = Promise.withResolvers<void>();
  await using checked = await MisbehavingSite.start({ "/check": held(gate.promise, page("Here")) });
  await using site = await MisbehavingSite.start({
    "/": html(paths.map((path) => `<a href="${path}">${path}</a>`).join("\n")),
    ...Object.fromEntries(paths.map((path) => [path, page(`Page ${path}`)])),
  });
  await using orb = new Orb({
    APP_MIN_PROXIES: String(USABLE.length),
    APP_PROXY_REFRESH_MINUTES: "0",
    APP_PROXY_CHECK_TIMEOUT_SECONDS: "20",
    APP_PROXY_CHECK_URL: checked.url("/check"),
  });
  orb.env["NODE_EXTRA_CA_CERTS"] = orb.file("proxies.pem", twelve.ca!);
  const first = await Served.start(orb);
  assert.equal((await first.api.post("/proxies", { proxies: twelve.urls })).status, 200);
  const { job_id: check } = (await first.api.post("/proxies/refresh")).json<RefreshView>();
  await checked.visited("/check", 2);
  await first.killed();
  gate.resolve();

  const second = await Served.start(orb);
  const again = (await second.api.post("/proxies/refresh")).json<RefreshView>();
  assert.ok(again.job_id === check || again.status === "complete", "the check is still the one that was begun");
  await second.ended(check);
  const done = (await second.api.get(`/proxies/refresh/${check}`)).json<RefreshView>();
  assert.deepEqual([done.status, done.result_count, done.completed_chunks], ["complete", USABLE.length, 1]);
  const { proxies } = (await second.api.get("/proxies?state=usable")).json<ProxyListView>();
  assert.deepEqual(proxies.map(({ port }) => twelve.nameAt(port)).toSorted(), USABLE.toSorted());

  const body = { url: site.url("/"), proxy: "pool", max_pages: PAGES + 1, partial_results_ok: false };
  const submitted = await second.api.post("/scraping/async-scrape", body);
  assert.equal(submitted.status, 202, submitted.text);
  const { task_id: crawl } = submitted.json<{ task_id: string }>();
  assert.equal((await second.ended(crawl)).status, "completed");
  const asked = site.visits.map(({ path }) => path);
  for (const path of paths) assert.ok(asked.includes(path), `${path} was fetched`);
  const through = USABLE.flatMap((name) =>
    twelve
      .named(name)
      .seen.filter(({ port }) => port === Number(new URL(site.origin).port))
      .map((passed) => ({ name, requests: passed.requests.length })),
  );
  const plain = through.reduce((sum, { requests }) => sum + requests, 0);
  assert.equal(plain, asked.length, "every request came through a proxy");
  assert.ok(new Set(through.map(({ name }) => name)).size > 1, "they take turns");
  const tasks = (await second.api.get(`/jobs/runs/${crawl}/tasks?limit=100`)).json<TaskView[]>();
  for (const { attempts } of tasks)
    assert.match(attempts.at(-1)?.proxy ?? "", /^(http|https|socks5):\/\/(\*\*\*@)?127\.0\.0\.1:\d+$/);
  const ended = await second.terminated();
  assert.equal(ended.code, 0);
  assert.ok(!`${first.process.stderr}${ended.stderr}${second.api.answered.join("")}`.includes(PASSWORD));
  await orb.audit();
});
