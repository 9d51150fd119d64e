import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { type Clock, systemClock, type Timer } from "../../src/base/clock.ts";
import { extractPage, type PageInput } from "../../src/extract/page.ts";
import { compilePlan, planForReplay, type PlanSpec } from "../../src/extract/plan.ts";
import { createPageReader, type PageReader, type PageReaderOptions } from "../../src/extract/pool.ts";
import { failureOf, reasonOf } from "../support/net.ts";
import { root } from "../support/source.ts";

/** For tests of pages, not of threads: a new one loads its code for half a second. Idle, it keeps nothing alive. */
const oneThread = createPageReader({ threads: 1, timeoutMs: 60_000, clock: systemClock });
const SPEC: PlanSpec = { items: "li", fields: { name: "a", price: { css: "b", type: "number" } } };

function open(options: Partial<PageReaderOptions> = {}): PageReader & AsyncDisposable {
  const reader = createPageReader({ threads: 2, timeoutMs: 60_000, clock: systemClock, ...options });
  return {
    read: (...args) => reader.read(...args),
    keep: (...args) => reader.keep(...args),
    busy: () => reader.busy(),
    warm: () => reader.warm(),
    readSitemap: (...args) => reader.readSitemap(...args),
    learn: (...args) => reader.learn(...args),
    repair: (...args) => reader.repair(...args),
    close: () => reader.close(),
    [Symbol.asyncDispose]: () => reader.close(),
  };
}

function page(name: string): PageInput {
  const body = Buffer.from(`<title>${name}</title><li><a>${name}</a> <b>£1.50</b></li>`);
  return { body, contentType: "text/html; charset=utf-8", url: "https://shop.example/" };
}

/** Each of these rules is stopped after a second by its own limit; all of them together take minutes. */
const ENDLESS: PlanSpec = {
  fields: Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [
      `wild${index}`,
      { jsonpath: "$..[?count($..*) == 1 && count(@..*) == 7]" },
    ]),
  ),
};
const ENDLESS_PAGE: PageInput = {
  body: JSON.stringify(Array.from({ length: 2_000 }, (_, index) => ({ index, list: [index] }))),
  contentType: "application/json",
  url: null,
};

/** Time passes only when the test says so; it also says when a page is being watched, that is: being read. */
class WatchClock implements Clock {
  readonly watched: { ms: number; fire: () => void }[] = [];
  #listener: (() => void) | null = null;

  now = () => systemClock.now();
  monotonic = () => systemClock.monotonic();

  after(ms: number, fire: () => void): Timer {
    const entry = { ms, fire };
    this.watched.push(entry);
    this.#listener?.();
    return { cancel: () => void this.watched.splice(this.watched.indexOf(entry), 1) };
  }

  /** The timers of pages that a thread has begun with. */
  async reading(timeoutMs: number, count = 1): Promise<{ fire: () => void }[]> {
    for (;;) {
      const found = this.watched.filter((entry) => entry.ms === timeoutMs);
      if (found.length >= count) return found;
      await new Promise<void>((resolve) => (this.#listener = resolve));
    }
  }
}

/** All of its time is over, however little of a processor the machine has given it meanwhile. */
function runOut(timer: { fire: () => void } | undefined): void {
  for (let times = 0; times < 12; times += 1) timer?.fire();
}

describe("pages read in threads", () => {
  it("give what reading them here would give", async () => {
    const reader = oneThread;
    const spec: PlanSpec = { ...SPEC, article: true };
    const { extraction, softBlock, shell } = await reader.read(page("Tea"), spec);
    assert.deepEqual(extraction, extractPage(page("Tea"), compilePlan(spec)));
    assert.deepEqual(extraction.records, [{ name: "Tea", price: 1.5 }]);
    assert.deepEqual([softBlock, shell], [null, null]);
  });

  it("are two at a time with two threads, and never three", async () => {
    const clock = new WatchClock();
    await using reader = open({ clock, timeoutMs: 777 });
    const slow = [1, 2, 3].map(() => failureOf(reader.read(ENDLESS_PAGE, ENDLESS)));
    const timers = await clock.reading(777, 2);
    assert.equal(clock.watched.length, 2, "the third page waits, and its time has not begun");
    for (const timer of timers) runOut(timer);
    assert.deepEqual(
      (await Promise.all(slow.slice(0, 2))).map((failure) => failure.reason),
      ["extraction_timeout", "extraction_timeout"],
    );
    runOut((await clock.reading(777))[0]);
    assert.equal((await slow[2])?.reason, "extraction_timeout");
  });

  it("1,000 pages come out in the order in which they went in, each as itself [slow]", async () => {
    await using reader = open({ threads: 1 });
    const order: number[] = [];
    const names = Array.from({ length: 1_000 }, (_, index) => `page ${index}`);
    const readings = await Promise.all(
      names.map(async (name, index) => {
        const reading = await reader.read(page(name), SPEC);
        order.push(index);
        return reading;
      }),
    );
    assert.deepEqual(
      readings.map((reading) => reading.extraction.title),
      names,
    );
    assert.deepEqual(
      order,
      names.map((_, index) => index),
    );
  });

  it("a page that does not come to an end is ended; those behind it go on [slow]", async () => {
    const clock = new WatchClock();
    await using reader = open({ clock, threads: 1, timeoutMs: 777 });
    const stuck = failureOf(reader.read(ENDLESS_PAGE, ENDLESS));
    const behind = reader.read(page("Tea"), SPEC);
    runOut((await clock.reading(777))[0]);
    const { code, reason, message } = await stuck;
    assert.deepEqual([code, reason], ["extraction", "extraction_timeout"]);
    assert.match(message, /longer than 777 ms/);
    assert.equal((await behind).extraction.title, "Tea");
  });

  it("says for how long threads have read, also of one that was ended", async () => {
    const clock = new WatchClock();
    await using reader = open({ clock, threads: 1, timeoutMs: 777 });
    assert.deepEqual(reader.busy(), { ms: 0, threads: 1 });
    // Starts a thread, which is not busy.
    reader.warm();
    assert.equal(reader.busy().ms, 0);
    await reader.read(page("Tea"), SPEC);
    const { ms } = reader.busy();
    assert.ok(ms > 0);
    assert.equal(reader.busy().ms, ms, "nothing is read now");
    const stuck = failureOf(reader.read(ENDLESS_PAGE, ENDLESS));
    // It is in the same thread already, and is read by another one.
    const behind = reader.read(page("Milk"), SPEC);
    runOut((await clock.reading(777))[0]);
    assert.equal((await stuck).reason, "extraction_timeout");
    assert.equal((await behind).extraction.title, "Milk");
    assert.ok(reader.busy().ms > ms);
  });

  it("a page of five megabytes has more time than a small one", async () => {
    const clock = new WatchClock();
    await using reader = open({ clock, threads: 1, timeoutMs: 1_000 });
    const large = reader.read({ ...page("Tea"), body: "<title>Tea</title>".padEnd(5_000_000) }, SPEC);
    await clock.reading(2_600);
    assert.equal((await large).extraction.title, "Tea");
  });

  it("a page that needs too much memory takes its thread along, and only that [slow]", async () => {
    await using reader = open({ threads: 1, memoryMb: 128 });
    const body = Buffer.from("<a href=/p?x=1 class=a id=b title=c lang=d rel=e>link</a>".repeat(240_000));
    const big = failureOf(reader.read({ ...page("x"), body }, { article: true }));
    const behind = reader.read(page("Tea"), SPEC);
    const { reason, message } = await big;
    assert.equal(reason, "extraction_failed");
    assert.match(message, /more than 128 MB/);
    assert.equal((await behind).extraction.title, "Tea");
  });

  it("JSON of millions of values is refused before it can fill the memory [slow]", async () => {
    await using reader = open({ threads: 1, memoryMb: 128 });
    const body = Buffer.from(`[${"[],".repeat(6_000_000)}1]`);
    const json = { body, contentType: "application/json", url: null };
    for (const spec of [{ fields: { first: { jsonpath: "$[0]" } } }, planForReplay({})]) {
      const { extraction } = await reader.read(json, spec);
      assert.match(extraction.errors[0]?.message ?? "", /more than 1500000 values/);
      assert.deepEqual([extraction.records, extraction.truncated], [[], true]);
    }
  });

  it("a spec that is no plan is refused with the path of the mistake", async () => {
    const reader = oneThread;
    const bad = reader.read(page("Tea"), { fields: { price: { css: "b[" } } });
    await assert.rejects(
      bad,
      (error) => isOrbError(error, "input_invalid") && error.fields[0]?.path === "fields.price.css",
    );
    assert.equal((await reader.read(page("Tea"), SPEC)).extraction.records.length, 1);
  });

  it("as many plans as there are runs keep their own rules", async () => {
    const reader = oneThread;
    for (let round = 0; round < 2; round += 1) {
      const fields = Array.from({ length: 80 }, (_, index) => `field${index}`);
      const readings = fields.map((field) => reader.read(page("Tea"), { fields: { [field]: "a" } }));
      const records = (await Promise.all(readings)).map(({ extraction }) => extraction.records[0]);
      assert.deepEqual(
        records,
        fields.map((field) => ({ [field]: "Tea" })),
      );
    }
  });
});

describe("a page that is called off", () => {
  it("rejects with the signal's reason while it waits, and is never read [slow]", async () => {
    const clock = new WatchClock();
    await using reader = open({ clock, threads: 1, timeoutMs: 777 });
    const stop = new AbortController();
    const stuck = failureOf(reader.read(ENDLESS_PAGE, ENDLESS));
    const waiting = reader.read(page("Tea"), SPEC, { signal: stop.signal });
    const last = reader.read(page("Milk"), SPEC);
    stop.abort(new Error("not wanted any more"));
    await assert.rejects(waiting, /not wanted any more/);
    runOut((await clock.reading(777))[0]);
    await stuck;
    assert.equal((await last).extraction.title, "Milk");
  });

  it("rejects at once while it is being read, and still frees its thread when its time is up", async () => {
    const clock = new WatchClock();
    await using reader = open({ clock, threads: 1, timeoutMs: 777 });
    const stop = new AbortController();
    const stuck = reader.read(ENDLESS_PAGE, ENDLESS, { signal: stop.signal });
    const [timer] = await clock.reading(777);
    stop.abort(new Error("not wanted any more"));
    await assert.rejects(stuck, /not wanted any more/);
    const next = reader.read(page("Tea"), SPEC);
    runOut(timer);
    assert.equal((await next).extraction.title, "Tea");
  });

  it("rejects before it starts when the signal has been raised already", async () => {
    await using reader = open();
    await assert.rejects(
      reader.read(page("Tea"), SPEC, { signal: AbortSignal.abort(new Error("too late")) }),
      /too late/,
    );
  });
});

describe("closing", () => {
  it("ends what is being read and what waits, and refuses what comes later", async () => {
    const clock = new WatchClock();
    await using reader = open({ clock, threads: 1, timeoutMs: 777 });
    const running = reasonOf(reader.read(ENDLESS_PAGE, ENDLESS));
    const waiting = reasonOf(reader.read(page("Tea"), SPEC));
    await clock.reading(777);
    await reader.close();
    assert.deepEqual(await Promise.all([running, waiting]), ["cancelled/run_cancelled", "cancelled/run_cancelled"]);
    assert.equal(await reasonOf(reader.read(page("Tea"), SPEC)), "cancelled/run_cancelled");
    assert.deepEqual(clock.watched, [], "no timer is left");
  });

  it("is not needed for the process to end: nor does a thread that was started ahead", () => {
    const script = `
      import { createPageReader } from "./src/extract/pool.ts";
      import { systemClock } from "./src/base/clock.ts";
      createPageReader({ threads: 1, timeoutMs: 60_000, clock: systemClock }).warm();
      process.on("exit", () => console.log("ended"));
    `;
    const text = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: root,
      encoding: "utf8",
      timeout: 120_000,
    });
    assert.equal(text, "ended\n");
  });

  it("is not needed for the process to end: idle threads do not keep it alive", () => {
    const script = `
      import { createPageReader } from "./src/extract/pool.ts";
      import { systemClock } from "./src/base/clock.ts";
      const reader = createPageReader({ threads: 2, timeoutMs: 60000, clock: systemClock });
      const { extraction } = await reader.read({ body: "<title>Tea</title>", contentType: null, url: null }, {});
      process.stdout.write(extraction.title + "\\n");`;
    const args = ["--input-type=module-typescript", "--eval", script];
    assert.equal(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 60_000 }), "Tea\n");
  });
});

describe("the bytes of a page", () => {
  it("stay the caller's unless they are given away [slow]", async () => {
    await using reader = open({ threads: 1 });
    const bytes = new Uint8Array(Buffer.from("<title>Tea</title>".padEnd(100_000)));
    await reader.read({ ...page("x"), body: bytes }, {});
    assert.equal(bytes.byteLength, 100_000);
    const { extraction } = await reader.read({ ...page("x"), body: bytes }, {}, { owned: true });
    assert.equal(extraction.title, "Tea");
    assert.equal(bytes.byteLength, 0, "its memory has moved");
  });

  it("are copied when others share their memory, given away or not", async () => {
    const reader = oneThread;
    const shared = new Uint8Array(Buffer.from("<title>Tea</title>and what belongs to somebody else"));
    const part = shared.subarray(0, 18);
    const { extraction } = await reader.read({ ...page("x"), body: part }, {}, { owned: true });
    assert.equal(extraction.title, "Tea");
    assert.equal(shared.byteLength, 51);
    const pooled = Buffer.from("<title>Milk</title>");
    assert.equal((await reader.read({ ...page("x"), body: pooled }, {}, { owned: true })).extraction.title, "Milk");
    assert.equal(pooled.toString(), "<title>Milk</title>");
  });
});

describe("the links of a long crawl", () => {
  it("are remembered without the pages they stood on [slow]", async () => {
    await using reader = open({ threads: 1, memoryMb: 128 });
    const filler = "words that a reader sees ".repeat(4_000);
    const scope = JSON.stringify({ url: "https://shop.example/" });
    for (let index = 0; index < 2_000; index += 1) {
      const body = Buffer.from(`<p>${filler}</p><a href="/a-link-that-is-long-enough/${index}">x</a>`);
      const follow = { crawl: "one", scope, all: false, tooDeep: false };
      const input = { body, contentType: "text/html", url: "https://shop.example/" };
      // All pages together are larger than what the thread may use.
      const reading = await reader.read(input, {}, { follow });
      assert.equal(reading.follow.length, 1);
    }
  });
});

describe("a page that is judged", () => {
  const judge = { status: 200, headers: { "content-type": "text/html" }, url: "https://shop.example/", shells: true };

  it("is told from an empty shell", async () => {
    const reader = oneThread;
    const body = `<html><body><div id="root"></div><script src="/app.js"></script></body></html>`;
    const shell = await reader.read({ ...page("x"), body }, {}, { judge });
    assert.equal(shell.shell?.rule, "empty_root");
    assert.equal((await reader.read(page("Tea"), {}, { judge })).shell, null);
    assert.equal((await reader.read({ ...page("x"), body }, {})).shell, null, "nobody asked");
    const asIs = await reader.read({ ...page("x"), body }, {}, { judge: { ...judge, shells: false } });
    assert.equal(asIs.shell, null, "taken as it is");
  });

  it("is told from a challenge, which is no shell then", async () => {
    const reader = oneThread;
    const body = `<html><head><title>Just a moment...</title></head><body>
      <noscript>Enable JavaScript and cookies to continue</noscript>
      <script>window._cf_chl_opt = {cType: "managed"};</script>
      <script src="/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1"></script></body></html>`;
    const headers = { "content-type": "text/html", server: "cloudflare", "cf-mitigated": "challenge" };
    const { softBlock, shell } = await reader.read(
      { ...page("x"), body },
      {},
      { judge: { ...judge, status: 403, headers } },
    );
    assert.equal(softBlock?.kind, "challenge");
    assert.equal(shell, null);
  });
});

describe("the answer of a replayed API", () => {
  const api: PageInput = {
    body: JSON.stringify([{ id: 1, tags: ["a"] }, { id: 2 }, "loose"]),
    contentType: "application/json",
    url: "https://shop.example/api",
  };

  it("gives the items themselves when there are no fields", () => {
    const { records } = extractPage(api, compilePlan(planForReplay({})));
    assert.deepEqual(records, [{ id: 1, tags: ["a"] }, { id: 2 }, { value: "loose" }]);
  });

  it("gives a record per item, checked by the schema", () => {
    const spec = { fields: { key: { jsonpath: "$.id" } }, schema: { properties: { key: { type: "integer" } } } };
    const { records, errors } = extractPage(api, compilePlan(planForReplay(spec)));
    assert.deepEqual(records, [{ key: 1 }, { key: 2 }, { key: null }]);
    assert.deepEqual(
      errors.map(({ record, field }) => [record, field]),
      [[2, "key"]],
    );
  });

  it("keeps the items that the job names itself", () => {
    const { records } = extractPage(api, compilePlan(planForReplay({ items: { jsonpath: "$[*].tags[*]" } })));
    assert.deepEqual(records, [{ value: "a" }]);
  });

  it("says so when there are more items than are read", () => {
    const body = JSON.stringify(Array.from({ length: 10_001 }, (_, index) => ({ index })));
    const { records, truncated } = extractPage({ ...api, body }, compilePlan(planForReplay({})));
    assert.deepEqual([records.length, truncated], [10_000, true]);
  });

  it("refuses an item that is nested deeper than can be stored", () => {
    const body = `[${"[".repeat(500)}1${"]".repeat(500)}, {"fine": true}]`;
    const { records, errors } = extractPage({ ...api, body }, compilePlan(planForReplay({})));
    assert.deepEqual(records, [{}, { fine: true }]);
    assert.match(errors[0]?.message ?? "", /nested too deep/);
  });
});
