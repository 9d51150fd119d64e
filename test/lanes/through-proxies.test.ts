import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import { createSeal } from "../../src/base/seal.ts";
import { type FailureReason, failure } from "../../src/domain/run/failure.ts";
import type { Handled } from "../../src/domain/run/outcome.ts";
import { summaryOf } from "../../src/domain/site/site-health.ts";
import { parseUpstream, type Upstream } from "../../src/domain/proxy/upstream.ts";
import { throughProxies } from "../../src/lanes/handlers/through-proxies.ts";
import { ProxyPool } from "../../src/proxies/pool.ts";
import { sealedExtract, toNewProxy } from "../../src/proxies/sealed-upstream.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { pages, status, Workshop, type WorkshopOptions } from "./workshop.ts";

const SEAL = createSeal("0123456789abcdef0123456789abcdef");
const POOL = { kind: "download", snapshot: { proxy: "pool" } } as const;
const MINE = parseUpstream("http://mine.example:8080") as Upstream;
const OWN = { kind: "download", snapshot: sealedExtract(SEAL, MINE) } as const;

interface Options extends WorkshopOptions {
  reads?: Pick<Store, "run">;
  proxies?: number;
  onHold?: (triedMs: number) => void;
}

/** A workshop that reaches its sites through eight proxies, if nothing else is said. */
async function open(t: TestContext, { proxies = 8, onHold, ...options }: Options): Promise<Workshop> {
  const shop = await Workshop.open(t, {
    around: (handler, { store, clock }) => {
      const pool = new ProxyPool({ store, clock, seal: SEAL, log: silentLog, rotation: "round_robin" });
      const run = (id: string) => (options.reads ?? store).run(id);
      return throughProxies({
        store: { run },
        clock,
        seal: SEAL,
        pool,
        holdRun: async (_, triedMs) => onHold?.(triedMs),
      })(handler);
    },
    ...options,
  });
  const names = Array.from({ length: proxies }, (_, n) => parseUpstream(`http://p${n}.example:8080`) as Upstream);
  await shop.store.addProxies(
    names.map((upstream) => toNewProxy(SEAL, upstream)),
    shop.clock.now(),
  );
  return shop;
}

const failed = (reason: FailureReason): Handled => ({ kind: "failed", failure: failure(reason, "it did not work") });

for (const [name, answer] of Object.entries({ "a block": status(403), "a cut connection": failed("connection_reset") }))
  test(`after ${name} the next proxy is tried at the pace of the site, in line with its other pages`, async (t) => {
    const shop = await open(t, { rules: { minDelayMs: 3000, retry: { maxAttempts: 2 } }, answer: () => answer });
    const run = await shop.run(pages("a.example", 3), POOL);
    await shop.finish();
    assert.ok((await shop.task(run, "a.example-0")).attempts.length < shop.starts.length / 3, "others were tried");
    const times = shop.starts.map(({ at }) => at).toSorted((a, b) => a - b);
    for (const [n, at] of times.slice(1).entries()) assert.ok(at - times[n]! >= 3000, `${at - times[n]!} ms apart`);
  });

test("after a block the next proxy is tried at the rate of the site", async (t) => {
  const shop = await open(t, { rules: { retry: { maxAttempts: 2 } }, answer: () => status(403) });
  await shop.store.setSite("a.example", { requestsPerSecond: 0.5, burst: 1 });
  await shop.run(pages("a.example", 3), POOL);
  await shop.finish();
  const times = shop.starts.map(({ at }) => at).toSorted((a, b) => a - b);
  for (const [n, at] of times.slice(1).entries()) assert.ok(at - times[n]! >= 1999, `${at - times[n]!} ms apart`);
});

test("a run that tries many proxies in vain is held long before it has tried them all", async (t) => {
  const held: number[] = [];
  const shop = await open(t, {
    proxies: 400,
    onHold: (triedMs) => void held.push(triedMs),
    latencyMs: () => 5_000,
    answer: () => failed("proxy_unreachable"),
  });
  await shop.run(pages("a.example", 1), POOL);
  while (held.length === 0 && shop.starts.length < 100) await shop.clock.advance(1000);
  assert.deepEqual(
    [held[0]! >= 30_000, shop.starts.length < 20],
    [true, true],
    `${held[0]} ms, ${shop.starts.length} tries`,
  );
  await shop.worker.stop();
});

test("a proxy that could not be reached costs no time: the site was not asked", async (t) => {
  const shop = await open(t, {
    rules: { minDelayMs: 3000 },
    answer: (_task, times) => (times <= 4 ? failed("proxy_unreachable") : null),
  });
  const run = await shop.run(pages("a.example", 1), POOL);
  await shop.finish();
  assert.ok(shop.starts.at(-1)!.at - shop.starts[0]!.at < 3000);
  assert.equal((await shop.task(run, "a.example-0")).attempts.length, 1);
});

for (const [options, reason] of [
  [POOL, "connection_reset"],
  [POOL, "proxy_timeout"],
  [OWN, "timeout_headers"],
  [OWN, "proxy_auth"],
] as const)
  test(`no answer through ${options === POOL ? "the pool" : "a proxy of one's own"} (${reason}) says nothing about the site`, async (t) => {
    const shop = await open(t, {
      answer: () => failed(reason),
      rules: { breaker: { failures: 2, cooldownMs: 300_000 }, retry: { maxAttempts: 2 } },
    });
    await shop.run(pages("a.example", 2), options);
    await shop.finish();
    await shop.clock.advance(2000);
    const site = await shop.store.site("a.example");
    assert.deepEqual([site!.breaker.failures, site!.breaker.openUntil], [0, null]);
    const { failed: bad, blocked } = summaryOf(site!.health, shop.clock.now());
    assert.deepEqual([bad, blocked], [0, 0]);
  });

test("an answer is the site's, whoever brought it", async (t) => {
  const shop = await open(t, { answer: () => status(500), rules: { breaker: { failures: 2, cooldownMs: 300_000 } } });
  await shop.run(pages("a.example", 4), POOL);
  await shop.clock.advance(5000);
  assert.notEqual((await shop.store.site("a.example"))!.breaker.openUntil, null);
});

test("while it is not known what a run asked for, nothing is fetched without its proxy", async (t) => {
  let isThere = false;
  const shop: Workshop = await open(t, { reads: { run: async (id) => (isThere ? shop.store.run(id) : null) } });
  const run = await shop.run(pages("a.example", 1), POOL);
  await shop.clock.advance(0);
  assert.deepEqual(shop.starts, []);
  isThere = true;
  await shop.finish();
  const [attempt] = (await shop.task(run, "a.example-0")).attempts;
  assert.match(attempt!.proxy ?? "none", /^http:\/\/p\d\.example:8080$/);
});
