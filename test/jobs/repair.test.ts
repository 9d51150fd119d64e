import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { EventView, RunView } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

interface Repair {
  state: string;
  run_id: string;
  version: number;
  decided_by: unknown;
  reason: string | null;
  pages: { paired: number; others: number };
  fields: {
    field: string | null;
    old_rule: unknown;
    new_rule: unknown;
    confidence: number | null;
    reason: string | null;
    values: { url: string; saved: unknown; before: unknown; after: unknown }[];
  }[];
}

interface Problem {
  code: string;
  detail: string;
}

/** Who calls without a token. */
const LOCAL = { kind: "local", id: null, name: "local" };
const PRODUCTS = 14;
const RULES = { title: "h1.name", price: { css: "span.price", type: "number" }, sku: ".sku" };
const NAMES = ["Lamp", "Chair", "Table", "Desk", "Shelf", "Sofa", "Bench"];

interface Look {
  new: boolean;
  /** The class of the article number. */
  sku: string;
}

/** A shop with a page per product; the redesign renames the classes and wraps the price. */
class Shop implements AsyncDisposable {
  readonly site: MisbehavingSite;
  readonly #look: Look;

  /** `lists`: pages that have no price, and come first. */
  static async open({ lists = 0, count = PRODUCTS } = {}): Promise<Shop> {
    const look: Look = { new: false, sku: "sku" };
    const pages = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `/p${n}`,
        (...args: Parameters<ReturnType<typeof html>>) => html(product(n, look))(...args),
      ]),
    );
    const names = Array.from({ length: lists }, (_, n) => `/page-${n}`);
    const listed = names.map((path) => [path, html(`<title>${path}</title><h1 class="name">List ${path}</h1>`)]);
    const links = [...names, ...Object.keys(pages)].map((path) => `<a href="${path}">${path}</a>`).join("");
    const all = { ...Object.fromEntries(listed), ...pages };
    const site = await MisbehavingSite.start({ "/": html(`<title>Shop</title><nav>${links}</nav>`), ...all });
    return new Shop(site, look);
  }

  private constructor(site: MisbehavingSite, look: Look) {
    this.site = site;
    this.#look = look;
  }

  redesign({ sku = "sku" } = {}): void {
    this.#look.new = true;
    this.#look.sku = sku;
  }

  back(): void {
    this.#look.new = false;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.site[Symbol.asyncDispose]();
  }
}

function product(n: number, { new: isNew, sku }: Look): string {
  const name = `${NAMES[n % NAMES.length]} no. ${n}`;
  const text = `<p class="about">Made of oak, number ${n}, delivered within ${n + 2} days.</p>`;
  const body = isNew
    ? `<article class="card"><h1 class="name">${name}</h1><div class="offer"><em class="amount">${n + 10}.50</em></div>${text}<i class="${sku}">SKU-${n}</i></article>`
    : `<main class="product"><h1 class="name">${name}</h1><span class="price">${n + 10}.50</span>${text}<i class="sku">SKU-${n}</i></main>`;
  return `<title>${name}</title><header class="top">The shop</header>${body}<footer class="end">Imprint</footer>`;
}

const crawl = (shop: Shop, more: object = {}) => ({
  kind: "crawl",
  target_url: shop.site.url("/"),
  crawl: { fields: RULES, read: ["/p*"], max_pages: 50, max_depth: 2 },
  ...more,
});

/** Runs the job, and waits until its records are compared. */
async function compared(server: TestServer, jobId: string): Promise<RunView> {
  const run = await server.run(jobId);
  await server.ended(run.id);
  await until(async () => {
    const { runs } = (await server.api.get(`/jobs/${jobId}/health`)).json<{ runs: { run_id: string }[] }>();
    return runs[0]?.run_id === run.id;
  }, "its records are compared");
  return (await server.api.get(`/jobs/runs/${run.id}`)).json<RunView>();
}

const repairOf = async (server: TestServer, jobId: string) => {
  const answer = await server.api.get(`/jobs/${jobId}/repair`);
  return answer.status === 200 ? answer.json<Repair>() : null;
};

const proposed = (server: TestServer, jobId: string, runId: string) =>
  until(async () => (await repairOf(server, jobId))?.run_id === runId, "a repair was considered");

const pricesOf = async (server: TestServer, runId: string) =>
  (await server.api.get(`/jobs/runs/${runId}/results?limit=100`))
    .json<{ data: { fields: { price: number | null; title: string | null } } }[]>()
    .map(({ data }) => data.fields.price)
    .toSorted((a, b) => (a ?? 0) - (b ?? 0));

const PRICES = Array.from({ length: PRODUCTS }, (_, n) => n + 10.5);

test("after a redesign the new rule is proposed with its values, accepted as a version, and undone [slow]", async () => {
  await using shop = await Shop.open();
  await using server = await TestServer.open();
  const job = await server.job(crawl(shop) as never);
  const nothing = await server.api.post(`/jobs/${job.id}/repair`);
  assert.deepEqual([nothing.status, nothing.json<Problem>().code], [409, "nothing_to_repair"]);
  assert.equal((await server.api.get(`/jobs/${job.id}/repair`)).status, 404);
  for (let run = 0; run < 3; run += 1) assert.equal((await compared(server, job.id)).degraded, null);

  shop.redesign();
  const broken = await compared(server, job.id);
  assert.deepEqual(
    broken.degraded?.map(({ field, metric }) => [field, metric]),
    [["price", "coverage"]],
  );
  await proposed(server, job.id, broken.id);
  const repair = (await repairOf(server, job.id))!;
  assert.deepEqual([repair.state, repair.version, repair.reason], ["open", 1, null], JSON.stringify(repair));
  const [price] = repair.fields;
  assert.deepEqual([repair.fields.length, price?.field, price?.old_rule], [1, "price", RULES.price]);
  assert.equal((price!.new_rule as { type: string }).type, "number", "what becomes of the value stays");
  assert.ok((price?.confidence ?? 0) >= 0.8, JSON.stringify(price));
  assert.ok(price!.values.length > 0 && price!.values.length <= 5);
  for (const { url, saved, before, after } of price!.values) {
    const n = Number(/\/p(\d+)$/.exec(url)?.[1]);
    assert.deepEqual([before, after], [null, n + 10.5]);
    assert.ok(saved === null || saved === n + 10.5);
  }
  const events = (await server.api.get(`/jobs/runs/${broken.id}/events`)).json<EventView[]>();
  assert.equal(events.at(-1)?.type, "repair.proposed");
  const alerts = (await server.api.get("/alerts?kind=repair_proposed")).json<{ subject: string; detail: object }[]>();
  assert.deepEqual(
    alerts.map(({ subject }) => subject),
    [job.id],
  );
  assert.ok(!JSON.stringify(alerts).includes("10.5"), "values stay in the store");

  const accepted = await server.api.post(`/jobs/${job.id}/repair/accept`);
  assert.deepEqual([accepted.status, accepted.json<Repair>().state], [200, "accepted"]);
  assert.deepEqual(accepted.json<Repair>().decided_by, LOCAL);
  const again = await server.api.post(`/jobs/${job.id}/repair/accept`);
  assert.deepEqual([again.status, again.json<Problem>().code], [409, "illegal_transition"]);
  const versions = (await server.api.get(`/jobs/${job.id}/versions`)).json<{ version: number; author: string }[]>();
  assert.deepEqual(
    versions.map(({ version, author }) => [version, author]),
    [
      [2, "repair"],
      [1, "api"],
    ],
  );
  const good = await compared(server, job.id);
  assert.deepEqual([good.degraded, await pricesOf(server, good.id)], [null, PRICES]);

  await server.api.post(`/jobs/${job.id}/versions/1/restore`);
  const undone = (await server.api.get(`/jobs/${job.id}`)).json<JobView>();
  assert.deepEqual(undone.crawl?.fields, RULES);
  shop.back();
  await compared(server, job.id);
  const health = (await server.api.get(`/jobs/${job.id}/health`)).json<{ runs: { compared_with: number }[] }>();
  assert.equal(health.runs[0]?.compared_with, 4, "the good runs by either rules are still the baseline");
});

test("a repair accepted with reread also gives the degraded run its records, under the same ids [slow]", async () => {
  await using shop = await Shop.open();
  await using server = await TestServer.open();
  const job = await server.job(crawl(shop) as never);
  for (let run = 0; run < 3; run += 1) await compared(server, job.id);
  shop.redesign();
  const broken = await compared(server, job.id);
  await proposed(server, job.id, broken.id);
  const { number } = (await server.api.get(`/jobs/${job.id}/repair`)).json<{ number: number }>();
  const unknown = await server.api.post(`/jobs/${job.id}/repair/accept?reread=true&number=${number + 1}`);
  assert.deepEqual([unknown.status, unknown.json<Problem>().code], [404, "not_found"]);
  assert.match(unknown.json<Problem>().detail, /no repair proposal 2: the newest is 1/);
  const idsOf = async () =>
    (await server.api.get(`/jobs/runs/${broken.id}/results?limit=100`)).json<{ id: string }[]>().map(({ id }) => id);
  const [before, fetched] = [await idsOf(), shop.site.visits.length];
  const accepted = await server.api.post(`/jobs/${job.id}/repair/accept?reread=true&number=${number}`);
  assert.deepEqual([accepted.status, accepted.json<Repair>().state], [200, "accepted"], accepted.text);
  assert.deepEqual(await pricesOf(server, broken.id), PRICES, "the records of the degraded run are right now");
  assert.deepEqual(await idsOf(), before);
  assert.equal(shop.site.visits.length, fetched, "nothing was fetched");
  const run = (await server.api.get(`/jobs/runs/${broken.id}`)).json<RunView>();
  assert.deepEqual([run.status, run.degraded], ["completed", null]);
  const next = await compared(server, job.id);
  assert.deepEqual([next.degraded, await pricesOf(server, next.id)], [null, PRICES]);
});

test("a run whose records contain whole pages is not read again: reread is refused with the reason, and nothing changes [slow]", async () => {
  await using shop = await Shop.open();
  await using server = await TestServer.open();
  const { crawl: options, ...rest } = crawl(shop);
  const job = await server.job({ ...rest, crawl: { ...options, document: { formats: ["markdown"] } } } as never);
  for (let run = 0; run < 3; run += 1) await compared(server, job.id);
  shop.redesign();
  const broken = await compared(server, job.id);
  await proposed(server, job.id, broken.id);
  const refused = await server.api.post(`/jobs/${job.id}/repair/accept?reread=true`);
  assert.deepEqual([refused.status, refused.json<Problem>().code], [409, "nothing_to_repair"]);
  assert.match(refused.json<Problem>().detail, /cannot be read again: its records contain whole pages/);
  assert.equal((await repairOf(server, job.id))?.state, "open");
  assert.equal((await server.api.post(`/jobs/${job.id}/repair/accept`)).json<Repair>().state, "accepted");
});

test("a proposal of a job that was changed since is refused, a rejected one is not accepted, and good pages close it [slow]", async () => {
  await using shop = await Shop.open();
  await using server = await TestServer.open();
  const job = await server.job(crawl(shop) as never);
  for (let run = 0; run < 3; run += 1) await compared(server, job.id);
  shop.redesign();
  await proposed(server, job.id, (await compared(server, job.id)).id);
  await server.api.call("PATCH", `/jobs/${job.id}`, { name: "Prices" });
  const stale = await server.api.post(`/jobs/${job.id}/repair/accept`);
  assert.deepEqual([stale.status, stale.json<Problem>().code], [409, "version_conflict"]);
  assert.match(stale.json<Problem>().detail, /changed since the proposal.* version 1, .* version 2/);

  const renewed = await server.api.post(`/jobs/${job.id}/repair`);
  assert.deepEqual([renewed.status, renewed.json<Repair>().state, renewed.json<Repair>().version], [200, "open", 2]);
  const rejected = (await server.api.post(`/jobs/${job.id}/repair/reject`)).json<Repair>();
  assert.deepEqual([rejected.state, rejected.decided_by], ["rejected", LOCAL]);
  const late = await server.api.post(`/jobs/${job.id}/repair/accept`);
  assert.deepEqual([late.status, late.json<Problem>().code], [409, "illegal_transition"]);

  assert.equal((await server.api.post(`/jobs/${job.id}/repair`)).json<Repair>().state, "open");
  shop.back();
  assert.equal((await compared(server, job.id)).degraded, null);
  assert.equal((await repairOf(server, job.id))?.state, "outdated");
  const nothing = await server.api.post(`/jobs/${job.id}/repair`);
  assert.deepEqual([nothing.status, nothing.json<Problem>().code], [409, "nothing_to_repair"]);
});

test("pages that fail on a broken required field degrade the run, and all their broken rules are repaired; pages that always fail do neither [slow]", async () => {
  await using shop = await Shop.open({ lists: 16 });
  await using server = await TestServer.open();
  const { crawl: options, ...rest } = crawl(shop);
  const fields = { ...RULES, price: { ...RULES.price, required: true } };
  const job = await server.job({ ...rest, crawl: { ...options, fields } } as never);
  for (let run = 0; run < 4; run += 1) {
    const { status, degraded } = await compared(server, job.id);
    assert.deepEqual([status, degraded], ["partial", null], "the lists fail in every run");
  }
  shop.redesign({ sku: "article-number" });
  const broken = await compared(server, job.id);
  assert.deepEqual(
    [broken.status, broken.degraded?.map(({ field, metric, before, now }) => [field, metric, before, now])],
    ["partial", [["price", "missing", 0, 1]]],
  );
  assert.deepEqual(await pricesOf(server, broken.id), [], "every page failed");
  await proposed(server, job.id, broken.id);
  const repair = (await repairOf(server, job.id))!;
  assert.equal(repair.state, "open", JSON.stringify(repair));
  assert.equal(repair.pages.others, 0, "lists are no evidence");
  const [price, sku] = repair.fields;
  assert.deepEqual([repair.fields.length, price?.field, sku?.field], [2, "price", "sku"]);
  assert.equal((price!.new_rule as { required: boolean }).required, true);
  assert.notEqual(sku?.new_rule, null, JSON.stringify(sku));
  const refused = await server.api.post(`/jobs/${job.id}/repair/accept?reread=true`);
  assert.equal(refused.status, 409);
  assert.match(refused.json<Problem>().detail, /failed on a required field are not read again: run the job/);
  assert.equal((await server.api.post(`/jobs/${job.id}/repair/accept`)).json<Repair>().state, "accepted");
  const next = await compared(server, job.id);
  assert.deepEqual([next.degraded, await pricesOf(server, next.id)], [null, PRICES]);
  const skus = (await server.api.get(`/jobs/runs/${next.id}/results?limit=100`)).json<
    { data: { fields: { sku: string } } }[]
  >();
  assert.deepEqual(
    skus.map(({ data }) => data.fields.sku).toSorted(),
    Array.from({ length: PRODUCTS }, (_, n) => `SKU-${n}`).toSorted(),
  );
});

test("a run of more pages than it keeps is not read again without auto_repair, and the refusal counts them [slow]", async () => {
  await using shop = await Shop.open({ count: 60 });
  await using server = await TestServer.open();
  const { crawl: options, ...rest } = crawl(shop);
  const job = await server.job({ ...rest, crawl: { ...options, max_pages: 100 } } as never);
  for (let run = 0; run < 3; run += 1) await compared(server, job.id);
  shop.redesign();
  await proposed(server, job.id, (await compared(server, job.id)).id);
  const refused = await server.api.post(`/jobs/${job.id}/repair/accept?reread=true`);
  assert.deepEqual([refused.status, refused.json<Problem>().code], [409, "nothing_to_repair"]);
  const [, count] =
    /\((\d+) of its pages are not kept; with auto_repair all are\)/.exec(refused.json<Problem>().detail) ?? [];
  assert.ok(Number(count) >= 30 && Number(count) < 60, refused.text);
  assert.equal((await repairOf(server, job.id))?.state, "open");
});

test("with auto_repair the degraded run is read again from its pages, and nothing is fetched twice [slow]", async () => {
  await using shop = await Shop.open();
  await using server = await TestServer.open();
  const job = await server.job(crawl(shop, { auto_repair: true }) as never);
  for (let run = 0; run < 3; run += 1) await compared(server, job.id);
  shop.redesign();
  const broken = await compared(server, job.id);
  await proposed(server, job.id, broken.id);
  const fetched = shop.site.visits.length;
  const repair = (await repairOf(server, job.id))!;
  assert.deepEqual([repair.state, repair.reason], ["accepted", null], JSON.stringify(repair));
  const program = { kind: "repair", id: job.id, name: job.name ?? job.id };
  const [newest] = (await server.api.get(`/jobs/${job.id}/versions`)).json<{ made_by: unknown }[]>();
  assert.deepEqual([repair.decided_by, newest?.made_by], [program, program]);
  assert.deepEqual(await pricesOf(server, broken.id), PRICES, "the records of the degraded run are right now");
  const run = (await server.api.get(`/jobs/runs/${broken.id}`)).json<RunView>();
  assert.deepEqual([run.status, run.degraded], ["completed", null]);
  const events = (await server.api.get(`/jobs/runs/${broken.id}/events`)).json<(EventView & { meta: object })[]>();
  const last = events.at(-1);
  assert.deepEqual(
    [last?.type, last?.meta],
    [
      "repair.accepted",
      {
        job_id: job.id,
        version: 2,
        fields: ["price"],
        decided_by: program,
        pages: PRODUCTS,
        pages_missing: 0,
        records: PRODUCTS,
      },
    ],
  );
  assert.equal(shop.site.visits.length, fetched);
  const next = await compared(server, job.id);
  assert.deepEqual([next.degraded, await pricesOf(server, next.id)], [null, PRICES]);
});

/** A list of records; the redesign renames what the rules name. */
function list(isNew: boolean, count = 24): string {
  const rows = Array.from({ length: count }, (_, n) =>
    isNew
      ? `<li class="tile"><h3 class="label">Book ${n} of many</h3><span class="amount">€ ${n + 5}.90</span></li>`
      : `<div class="book"><b class="title">Book ${n} of many</b><i class="price">€ ${n + 5}.90</i></div>`,
  );
  return `<title>Books</title><section>${isNew ? `<ul class="tiles">${rows.join("")}</ul>` : rows.join("")}</section>`;
}

test("the rules of a list are repaired together: where its records are, and their fields [slow]", async () => {
  let isNew = false;
  await using site = await MisbehavingSite.start({ "/": (...args) => html(list(isNew))(...args) });
  await using server = await TestServer.open();
  const rules = { items: ".book", fields: { title: ".title", price: ".price" } };
  const job = await server.job({ target_url: site.url("/"), ...rules, auto_repair: true } as never);
  for (let run = 0; run < 3; run += 1) await compared(server, job.id);
  isNew = true;
  const broken = await compared(server, job.id);
  await proposed(server, job.id, broken.id);
  const repair = (await repairOf(server, job.id))!;
  assert.equal(repair.state, "accepted", JSON.stringify(repair));
  const results = (await server.api.get(`/jobs/runs/${broken.id}/results?limit=100`)).json<
    { data: { title: string; price: string } }[]
  >();
  assert.deepEqual(
    results.map(({ data }) => data),
    Array.from({ length: 24 }, (_, n) => ({ title: `Book ${n} of many`, price: `€ ${n + 5}.90` })),
  );
  assert.equal((await compared(server, job.id)).degraded, null);
});

test("pages that were fetched with credentials are kept encrypted, and repaired; without saved pages the reason says so [slow]", async () => {
  await using shop = await Shop.open();
  await using server = await TestServer.open();
  const { crawl: options, ...rest } = crawl(shop);
  const secret = await server.job({ ...rest, crawl: { ...options, headers: { "x-key": "s3cret" } } } as never);
  const none = await server.job(crawl(shop, { fixtures: 0 }) as never);
  for (let run = 0; run < 3; run += 1) for (const { id } of [secret, none]) await compared(server, id);
  shop.redesign();
  const broken = await compared(server, secret.id);
  await proposed(server, secret.id, broken.id);
  assert.equal((await repairOf(server, secret.id))?.state, "open");
  const files = server.stored();
  assert.ok(files.length >= PRODUCTS, "the pages of the degraded run are kept");
  assert.ok(files.every(({ bytes }) => !bytes.includes("delivered within")));

  const other = await compared(server, none.id);
  await proposed(server, none.id, other.id);
  const repair = (await repairOf(server, none.id))!;
  assert.deepEqual(
    [repair.state, repair.fields.map(({ field, new_rule }) => [field, new_rule])],
    ["abstained", [["price", null]]],
  );
  assert.match(repair.reason ?? "", /keeps no saved pages: set fixtures/);
  const refused = await server.api.post(`/jobs/${none.id}/repair/accept`);
  assert.deepEqual([refused.status, refused.json<Problem>().code], [409, "illegal_transition"]);
});
