import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import { assertSound, drainThroughKills, WINDOW, withSeed } from "./kills.ts";
import { assertStored, FULL, Orb, report } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";

const LINES = 2000;
const SITES = 4;
const PER_HOST = 4;
const RESOLVERS = { alpha: 2, beta: 3 };

const BAD_LINES: ((url: string) => string)[] = [
  () => "this is not JSON",
  () => '{"artifact_id": "cut off", "url": "http://exa',
  () => '{"artifact_id": "no address"}',
  (url) => JSON.stringify({ url }),
  () => '{"artifact_id": "wrong scheme", "url": "ftp://example.com/x"}',
  () => '{"artifact_id": "no absolute address", "url": "/x"}',
  (url) => JSON.stringify({ artifact_id: "unknown key", url, prioritty: 3 }),
  (url) => JSON.stringify({ artifact_id: "bad priority", url, priority: "high" }),
  (url) => JSON.stringify({ artifact_id: "odd priority", url, priority: 1.5 }),
  () => "[1, 2, 3]",
  () => "null",
];

interface Expected {
  path: string;
}

describe("a file of 2,000 lines over four sites", () => {
  test("is imported once whatever is in it, and survives kills until everything is stored exactly once", async () => {
    await withSeed(async (random) => {
      const kills = FULL ? 50 : 3;
      await using target = await Target.start(SITES);
      await using orb = new Orb({
        APP_MAX_PER_HOST: String(PER_HOST),
        APP_MAX_PER_RESOLVER: JSON.stringify(RESOLVERS),
      });

      const lines: string[] = [];
      const bad: number[] = [];
      const expected = new Map<string, Expected>();
      let doubles = 0;
      let blank = 0;
      while (lines.length < LINES) {
        const number = lines.length + 1;
        const site = integerBelow(random, SITES);
        const roll = random.next();
        if (roll < 0.02) {
          bad.push(number);
          lines.push((BAD_LINES[bad.length % BAD_LINES.length] as (url: string) => string)(target.url("/bad", site)));
        } else if (roll < 0.03) {
          blank += 1;
          lines.push(roll < 0.025 ? "" : "   ");
        } else if (roll < 0.08 && expected.size > 0) {
          doubles += 1;
          const [again] = [...expected.keys()].slice(integerBelow(random, expected.size));
          // Another address under a known name changes nothing.
          lines.push(JSON.stringify({ artifact_id: again, url: target.url("/never", site) }));
        } else {
          // The first two sites have resolvers, which cross them.
          const resolver = site < 2 ? ([null, "alpha", "beta", "free"] as const)[integerBelow(random, 4)] : null;
          const path = `/item/${number}${resolver === null ? "" : `?r=${resolver}`}`;
          const name = `item ${number}: ä/${site}`;
          expected.set(name, { path });
          lines.push(
            JSON.stringify({
              artifact_id: name,
              url: target.url(path, site),
              ...(resolver === null ? {} : { resolver }),
              ...(random.next() < 0.3 ? { priority: integerBelow(random, 5) - 2 } : {}),
            }),
          );
        }
      }
      // Windows line ends and a last line without one are nothing to complain about.
      const file = orb.file(
        "items.jsonl",
        lines
          .map((line, index) => line + (index % 7 === 0 ? "\r\n" : "\n"))
          .join("")
          .trimEnd(),
      );

      const first = await orb.run(["queue", "import", file, "--json"]);
      assert.equal(first.code, 3, "some lines were bad: partial");
      const told = JSON.parse(first.stdout) as { bad_lines: { line: number }[]; [key: string]: unknown };
      assert.deepEqual(
        told.bad_lines.map(({ line }) => line),
        bad,
      );
      assert.deepEqual(
        { lines: told["lines"], added: told["added"], existing: told["existing"], bad: told["bad"] },
        { lines: LINES - blank, added: expected.size, existing: doubles, bad: bad.length },
      );

      const second = await orb.run(["queue", "import", file]);
      assert.equal(second.code, 3);
      assert.match(
        second.stdout,
        new RegExp(` 0 added, ${expected.size + doubles} already there, ${bad.length} invalid`),
      );
      for (const line of bad) assert.match(second.stderr, new RegExp(`^line ${line}: \\S`, "m"));
      const before = await orb.stats();
      assert.deepEqual([before.queued, before.total, before.lanes.length], [expected.size, expected.size, SITES]);

      target.latencyMs = 25;
      const { slowestResumeMs, last } = await drainThroughKills(orb, target, {
        kills,
        requests: expected.size,
        random,
      });
      assert.equal(last.code, 0, last.stderr);

      const items = await orb.items();
      assert.equal(items.size, expected.size);
      for (const [name, { path }] of expected) {
        assertStored(items.get(name), bodyOf(path), name);
        assert.equal(items.get(name)?.attempts, 1, `${name} has one attempt in its history`);
        assert.ok(target.count(path) >= 1);
      }
      assert.equal(target.count("/never") + target.count("/bad"), 0, "nothing else was fetched");
      for (const [site, most] of target.mostPerSite) assert.ok(most <= PER_HOST, `${most} at once on ${site}`);
      for (const [resolver, cap] of Object.entries(RESOLVERS)) {
        const most = target.mostPerResolver.get(resolver) ?? 0;
        assert.ok(most <= cap && most > 0, `${most} at once for ${resolver}`);
      }
      assert.ok(target.repeats <= WINDOW * kills, `${target.repeats} refetches`);
      await orb.audit();
      assertSound(orb.database);
      report("import", {
        items: expected.size,
        kills,
        refetches: target.repeats,
        "slowest resume ms": slowestResumeMs,
        "most per site": Math.max(...target.mostPerSite.values()),
        "most per resolver": JSON.stringify(Object.fromEntries(target.mostPerResolver)),
      });
    });
  });
});
