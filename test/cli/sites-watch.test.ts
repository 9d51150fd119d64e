import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { sitesBlock } from "../../src/cli/sites/sites-block.ts";
import type { SiteProgress, SiteView } from "../../src/orchestrator/sites/site-view.ts";
import type { SitesProgress } from "../../src/orchestrator/sites/sites-progress.ts";
import { TestServer } from "../jobs/kit.ts";
import { somePort } from "../support/services.ts";
import { Installation } from "./installation.ts";

const NOW = Date.parse("2026-11-15T10:00:00Z");
const later = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

function site(name: string, more: Partial<SiteProgress> = {}): SiteProgress {
  return {
    site: name,
    group: null,
    state: "active",
    counts: { queued: 80, running: 5, retrying: 2, completed: 1500, failed: 3 },
    pages_per_second: 4.2,
    error_rate: 0.02,
    waiting_for: null,
    last_failure: null,
    ...more,
  };
}

const PROGRESS: SitesProgress = {
  totals: {
    queued: 320,
    running: 20,
    retrying: 8,
    completed: 6000,
    failed: 12,
    sites: 9,
    active_sites: 2,
    waiting_sites: 1,
    paused_sites: 1,
    blocked_sites: 0,
    pages_per_second: 12.6,
    error_rate: 0.004,
  },
  sites: [
    site("a.example", { group: "shop" }),
    site("begins.example", { error_rate: null, pages_per_second: 0 }),
    site("a-site-with-a-very-long-name.of.a.department.example", {
      waiting_for: { reason: "circuit_open", until: later(250), message: "", last_failure: null },
    }),
    site("paused.example", {
      state: "paused",
      waiting_for: { reason: "site_paused", until: null, message: "", last_failure: null },
    }),
  ],
};

const block = (columns: number, rows: number, progress = PROGRESS) =>
  sitesBlock({ out: () => {}, err: () => {}, live: true, colour: true }, progress, {
    columns,
    rows,
    now: NOW,
    lead: "⠋",
    rates: { whole: 12.6, of: (name) => (name === "begins.example" ? null : 4.2) },
  }).map((line) => stripVTControlCharacters(line));

describe("the picture of all sites", () => {
  test("no line is broken and no row too much, whatever the screen is like", () => {
    for (let columns = 40; columns <= 200; columns += 1)
      for (const rows of [2, 3, 5, 24]) {
        const lines = block(columns, rows);
        assert.ok(lines.length <= Math.max(1, rows - 1), `${columns} × ${rows}: ${lines.length}`);
        for (const line of lines) assert.ok(line.length < columns, `${columns}: ${line}`);
      }
  });

  test("says what is to be done, how fast it goes, and what each site waits for", () => {
    assert.deepEqual(block(120, 24), [
      "⠋ 348 pages to do  13/s  < 1 % errors  20 in flight  8 retrying",
      "  9 sites  2 active  1 waiting  1 paused",
      "  a.example (shop)                                      87 to do    1500 done  4.2/s  2 % errors",
      "  begins.example                                        87 to do    1500 done  active",
      "  a-site-with-a-very-long-name.of.a.department.example  87 to do    1500 done  circuit open, 4 min left  2 % errors",
      "  paused.example                                        87 to do    1500 done  paused  2 % errors",
    ]);
    assert.deepEqual(block(60, 24).slice(2), [
      "  a.example              87 to do  4.2/s  2 % errors",
      "  begins.example         87 to do  active",
      "  a-site-with-a-very-l…  87 to do  circuit open, 4 min left",
      "  paused.example         87 to do  paused",
    ]);
  });

  test("what there is no room for is told", () => {
    assert.equal(block(80, 5).at(-1), "  … orb sites list shows every site");
    const { totals } = PROGRESS;
    const many = { ...PROGRESS, totals: { ...totals, active_sites: 80 } };
    assert.equal(block(80, 24, many).at(-1), "  … orb sites list shows every site");
    const none = {
      sites: [],
      totals: { ...totals, queued: 0, running: 0, retrying: 0, active_sites: 0, waiting_sites: 0 },
    };
    assert.deepEqual(block(80, 24, none), ["⠋ nothing to do", "  9 sites  1 paused"]);
  });
});

describe("orb sites", { concurrency: 2 }, () => {
  test("takes every setting, shows what holds, and names what cannot be [slow]", async () => {
    await using installation = new Installation();
    const set = await installation.json<SiteView>(
      ...["sites", "set", "shop.test", "--strategy", "browser", "--respect-robots", "no"],
      ...["--max-memory-mb", "300", "--group", "shop", "--depends-on", "a.test", "--depends-on", "b.test"],
    );
    const { strategy, respect_robots, max_memory_mb, group, depends_on } = set;
    assert.deepEqual(
      [strategy, respect_robots, max_memory_mb, group, depends_on],
      ["browser", false, 300, "shop", ["a.test", "b.test"]],
    );
    const grouped = await installation.run(["sites", "set", "shop.test", "--shards", "2"]);
    assert.equal(grouped.code, 2);
    assert.match(grouped.stderr, /shards.*remove it from the group shop/);
    const shown = await installation.run(["sites", "show", "shop.test"]);
    for (const line of [/^robots.txt +not obeyed$/m, /^depends on +a.test, b.test$/m, /^concurrency +10 \(default\)$/m])
      assert.match(shown.stdout, line);
    const circle = await installation.run(["sites", "set", "b.test", "--depends-on", "shop.test"]);
    assert.equal(circle.code, 2);
    assert.match(circle.stderr, /b\.test → shop\.test → b\.test/);
    const back = await installation.json<SiteView>(
      ...["sites", "set", "shop.test", "--no-group", "--no-depends-on", "--strategy", "default"],
      ...["--respect-robots", "default", "--shards", "4", "--max-memory-mb", "default"],
    );
    assert.deepEqual(
      [back.strategy, back.respect_robots, back.shards, back.max_memory_mb, back.group, back.depends_on],
      [null, null, 4, null, null, []],
    );
    assert.deepEqual([back.max_concurrency, back.min_delay_ms, back.effective.shards], [10, 0, 4]);
    await installation.run(["sites", "set", "shop.test", "--max-concurrency", "3"]);
    assert.match((await installation.run(["sites", "show", "shop.test"])).stdout, /^shards +4, limited to 3$/m);
    assert.equal((await installation.json<SiteView>("sites", "set", "shop.test", "--shards", "default")).shards, 1);
    assert.equal((await installation.run(["sites", "set", "shop.test"])).code, 2);
  });

  test("alone lists them; a slip of the finger is told [slow]", async () => {
    await using installation = new Installation();
    assert.equal((await installation.run(["sites"])).stdout, "no sites yet\n");
    await installation.run(["sites", "pause", "shop.test"]);
    assert.match((await installation.run(["sites", "--state", "paused"])).stdout, /^shop\.test +paused/m);
    assert.equal((await installation.run(["sites", "--search", "other"])).stdout, "no matching sites\n");
    const slip = await installation.run(["sites", "resmue", "shop.test"]);
    assert.equal(slip.code, 2);
    assert.match(slip.stderr, /has no command resmue; did you mean resume\?/);
  });

  test("--watch tells how all are getting on until Ctrl-C, for people and for programs", async () => {
    await using installation = Installation.prepared();
    await installation.run(["sites", "pause", "shop.test"]);
    const people = await installation.run(["sites", "--watch"], { printed: (_, interrupt) => interrupt() });
    assert.deepEqual([people.code, people.stdout], [130, "nothing to do, 1 site, 1 paused\n"]);
    const programs = await installation.run(["sites", "--watch", "--json"], { printed: (_, interrupt) => interrupt() });
    assert.equal(programs.code, 130);
    const [line, rest] = programs.stdout.split("\n");
    assert.equal(rest, "");
    assert.equal((JSON.parse(line ?? "") as SitesProgress).totals.paused_sites, 1);
  });

  test("--watch of a server that is restarted says so, waits for it, and goes on [slow]", async () => {
    await using installation = new Installation();
    // It comes back where it was.
    await using server = await TestServer.open({ APP_PORT: String(await somePort()) });
    const url = server.api.url;
    const restarted = Promise.withResolvers<void>();
    let begun = false;
    const watching = installation.run(["sites", "--watch", "--json", "--url", url], {
      printed: (stdout, interrupt) => {
        if (stdout.split("\n").length > 2) return interrupt();
        if (begun) return;
        begun = true;
        server.stop().then(restarted.resolve, restarted.reject);
      },
      said: (stderr) => {
        if (!stderr.includes("Connection to the server lost") || stderr.includes("Reconnected")) return;
        restarted.promise.then(() => server.start());
      },
    });
    const { code, stdout, stderr } = await watching;
    assert.deepEqual([code, stdout.trim().split("\n").length], [130, 2], stderr);
    assert.match(
      stderr,
      /Connection to the server lost \(.+\)\. Reconnecting; press Ctrl-C to stop\.\nReconnected to the server\.\n/,
    );
    const nobody = await installation.run(["sites", "--watch", "--url", "http://127.0.0.1:9"]);
    assert.equal(nobody.code, 1, "one that never answered is not waited for");
  });
});
