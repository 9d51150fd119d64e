import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Site, Worker } from "../../web/src/api/types.ts";
import { codeParts, searchConfig, sourceWords } from "../../web/src/pages/settings/config.ts";
import { laneHref, laneName, ownerOf, concurrencyKeys } from "../../web/src/logic/lanes.ts";
import { readNumber, SITE_LIMITS } from "../../web/src/logic/limits.ts";
import { readItems, readLines } from "../../web/src/logic/paste.ts";
import { proxyProblem, refusedLines } from "../../web/src/pages/proxies/proxies.ts";
import { cronWords, scheduleTitle, zonedTime } from "../../web/src/pages/schedules/schedules.ts";
import {
  errorShares,
  hasNew,
  limitWords,
  patchPages,
  readSites,
  replaceSite,
  siteFromPath,
  siteHref,
  timesOf,
} from "../../web/src/logic/sites.ts";
import { mergeWorkers, orderWorkers, totalsOf } from "../../web/src/pages/workers/workers.ts";

const site = (name: string, more: Partial<Site> = {}) => ({ site: name, state: "idle", ...more }) as Site;
const pages = (...rows: Site[]) => ({ pages: [{ rows, next: null, total: null }], pageParams: [null] });
const rowsOf = (list: ReturnType<typeof patchPages>) => list?.pages.flatMap(({ rows }) => rows);

describe("limits as people write them", () => {
  it("reads numbers, and empty as the configured one", () => {
    const { max_concurrency, requests_per_second } = SITE_LIMITS;
    assert.deepEqual(readNumber(" 12 ", max_concurrency), { value: 12 });
    assert.deepEqual(readNumber("", max_concurrency), { value: null });
    assert.deepEqual(readNumber("0,5", requests_per_second), { value: 0.5 });
    assert.deepEqual(readNumber("1 000", max_concurrency), { value: 1000 });
  });

  it("says what is wrong with others", () => {
    const { max_concurrency, requests_per_second } = SITE_LIMITS;
    assert.deepEqual(readNumber("many", max_concurrency), { error: "enter a number" });
    assert.deepEqual(readNumber("0x10", max_concurrency), { error: "enter a number" });
    assert.deepEqual(readNumber("1.5", max_concurrency), { error: "enter a whole number" });
    assert.deepEqual(readNumber("0", max_concurrency), { error: "at least 1" });
    assert.deepEqual(readNumber("100001", requests_per_second), { error: "at most 100000" });
    assert.deepEqual(readNumber("", { least: 1, most: 2, optional: false }), { error: "enter a number" });
  });

  it("says what was set in words", () => {
    assert.equal(limitWords("requests_per_second", 2), "2 per second");
    assert.equal(limitWords("min_delay_ms", 1500), "1.5 s");
    assert.equal(limitWords("max_concurrency", null), "server default");
  });
});

describe("sites that change while they are looked at", () => {
  const told = { site: "a.example", state: "active", pages_per_second: 3 } as never;

  it("have what was told, and keep what was not", () => {
    const list = pages(site("a.example", { max_concurrency: 4 }), site("b.example"));
    const rows = rowsOf(patchPages(list, [told]));
    assert.equal(rows?.[0]?.state, "active");
    assert.equal(rows?.[0]?.max_concurrency, 4);
    assert.equal(rows?.[1]?.state, "idle");
    assert.equal(patchPages(undefined, [told]), undefined);
  });

  it("are loaded again when one is new, and replaced when one was changed", () => {
    assert.equal(hasNew(pages(site("b.example")), [told]), true);
    assert.equal(hasNew(pages(site("a.example")), [told]), false);
    assert.equal(hasNew(undefined, [told]), false);
    const fits = (query: object) => hasNew(pages(site("b.example")), [told], query);
    assert.deepEqual(
      [fits({ q: "A.ex" }), fits({ q: "other" }), fits({ state: "active" }), fits({ state: "none" })],
      [true, false, true, false],
    );
    assert.equal(fits({ group: "another" }), false);
    const begun = (last: string) => {
      const all = pages(site(last));
      return { ...all, pages: all.pages.map((page) => ({ ...page, next: "x" })) };
    };
    // Lists are by name: what is behind the last one that was loaded is no news.
    assert.deepEqual([hasNew(begun("b.example"), [told]), hasNew(begun("a.aaa"), [told])], [true, false]);
    const changed = site("a.example", { paused: true });
    assert.deepEqual(rowsOf(replaceSite(pages(site("a.example"), site("b.example")), changed))?.[0], changed);
  });

  it("have a share of errors where anything ended", () => {
    assert.deepEqual(errorShares({ good: [1, 0, null, 3], bad: [1, 0, null, 0] }), [0.5, null, null, 0]);
    const series = { step_seconds: 60, first_at: "2026-01-01T00:00:00Z", good: [1, 2], bad: [0, 0] };
    const first = Date.parse("2026-01-01T00:00:00Z");
    assert.deepEqual(timesOf(series), [first, first + 60_000]);
  });

  it("are named in addresses and lists", () => {
    assert.equal(siteHref("[::1]:8080"), "/sites/%5B%3A%3A1%5D%3A8080");
    assert.equal(siteFromPath("%5B%3A%3A1%5D%3A8080"), "[::1]:8080");
    assert.equal(siteFromPath("50%"), "50%");
    assert.deepEqual(readSites(" a.example, b.example\nb.example ;"), ["a.example", "b.example"]);
  });
});

describe("pasted lists", () => {
  it("are read line by line, without remarks", () => {
    assert.deepEqual(readLines("http://a:1\r\n\n# old\n  b:2  "), ["http://a:1", "b:2"]);
  });

  it("of proxies are told of without their address", () => {
    assert.equal(proxyProblem("the proxy http://***@p.example:1 is unknown"), "Is unknown");
    assert.equal(proxyProblem("no answer in time"), "No answer in time");
  });

  it("of items take addresses, names with addresses, and JSON", () => {
    const { items, mistakes } = readItems(
      'https://a.example/x\nname https://a.example/y\n\n{"url":"https://a.example/z","priority":3}\nnot an address\n{"broken',
    );
    assert.deepEqual(items, [
      { artifact_id: "https://a.example/x", url: "https://a.example/x" },
      { artifact_id: "name", url: "https://a.example/y" },
      { artifact_id: "https://a.example/z", url: "https://a.example/z", priority: 3 },
    ]);
    assert.deepEqual(mistakes, [
      { line: 5, message: "expected a URL, or a name and a URL" },
      { line: 6, message: "not valid JSON" },
    ]);
  });
});

describe("lanes and workers", () => {
  const worker = (id: string, more: Partial<Worker> = {}) =>
    ({ id, machine: "m", pid: 7, state: "working", in_flight: 1, active: [], started_at: id, ...more }) as Worker;

  it("say what a lane is and who has it", () => {
    assert.deepEqual(laneName({ lane: "site:[::1]:80", step: null }), { kind: "Site", name: "[::1]:80" });
    assert.deepEqual(laneName({ lane: "odd", step: null }), { kind: "Lane", name: "odd" });
    const step = { workflow_id: "f", workflow_name: "Prices", step_name: "each page", step_index: 1, place: null };
    assert.deepEqual(laneName({ lane: "step.f.1", step }), { kind: "Workflow step", name: "Prices › each page" });
    assert.match(laneName({ lane: "step.f.1.2", step: { ...step, place: 2 } }).kind, /entry 3/);
    assert.equal(laneHref({ sites: [], step }), "/workflows/f?step=each%20page");
    assert.equal(laneHref({ sites: ["a.example"], step: null }), "/sites/a.example");
    assert.equal(laneHref({ sites: ["a.example", "b.example"], step: null }), null);
    assert.deepEqual(ownerOf({ owned: false, worker_id: null }, []), { name: "none", machine: null });
    assert.deepEqual(ownerOf({ owned: true, worker_id: "w" }, [worker("w")]), { name: "process 7", machine: "m" });
    assert.equal(ownerOf({ owned: true, worker_id: "other" }, [worker("w")]).name, "a process");
  });

  it("find concurrency keys in the configuration and in items", () => {
    assert.deepEqual(concurrencyKeys("api=3,img:large=10", [{ concurrency_key: "zip" }, { concurrency_key: null }]), [
      "api",
      "img:large",
      "zip",
    ]);
    assert.deepEqual(concurrencyKeys(null, []), []);
  });

  it("keep what workers have in hand until it is loaded again", () => {
    const task = { task_id: "t", run_id: "r", lane: "site:a", url: null, started_at: "" };
    const old = [worker("a", { active: [task] }), worker("gone")];
    const [first, second] = mergeWorkers(old, [worker("a", { in_flight: 1 }), worker("b")]);
    assert.deepEqual(first?.active, [task]);
    assert.deepEqual(second?.active, []);
    assert.deepEqual(mergeWorkers(old, [worker("a", { in_flight: 0 })])[0]?.active, []);
    assert.equal(mergeWorkers(old, [worker("a")]).length, 2);
  });

  it("show lost ones first, and do not count them", () => {
    const all = [
      worker("1", { in_flight: 2, max_workers: 5, throughput: 1, memory: 10 }),
      worker("2", { state: "stopped", in_flight: 9, max_workers: 9, throughput: 9, memory: 9 }),
      worker("3", { state: "lost", in_flight: 9, max_workers: 9, throughput: 9, memory: 9 }),
    ];
    assert.deepEqual(
      orderWorkers(all).map(({ state }) => state),
      ["lost", "working", "stopped"],
    );
    const totals = { working: 1, standby: 0, lost: 1, inFlight: 2, capacity: 5, throughput: 1, memory: 10 };
    assert.deepEqual(totalsOf(all), totals);
    const idle = worker("4", { role: "standby", in_flight: 0, max_workers: 5, throughput: 0, memory: 3 });
    assert.deepEqual(totalsOf([...all, idle]), { ...totals, standby: 1, memory: 13 }, "it works on nothing yet");
  });
});

describe("schedules and configuration", () => {
  it("say times in the zone of the schedule, through the change of clocks", () => {
    assert.equal(zonedTime("2026-03-28T08:30:00Z", "Europe/Berlin"), "Sat 28 Mar, 09:30");
    assert.equal(zonedTime("2026-03-29T08:30:00Z", "Europe/Berlin"), "Sun 29 Mar, 10:30");
    assert.equal(zonedTime("2026-03-29T08:30:15Z", "Not/AZone"), "Sun 29 Mar, 08:30:15 UTC");
    assert.equal(scheduleTitle({ name: null, kind: "crawl", job_id: "0123456789" }), "Crawl 01234567");
  });

  it("say the usual ones in words, and leave the others to cron", () => {
    assert.equal(cronWords("0 9 * * *"), "every day at 09:00");
    assert.equal(cronWords("0 5 9 * * 1-5"), "on weekdays at 09:05");
    assert.equal(cronWords("*/15 * * * *"), "every 15 minutes");
    assert.equal(cronWords("0 0 * * 0"), "every Sunday at 00:00");
    assert.equal(cronWords("30 */6 * * *"), "every 6 hours at :30");
    assert.equal(cronWords("0 9 1 * *"), "on day 1 of every month at 09:00");
    assert.equal(cronWords("0 9 1 * 1"), null);
    assert.equal(cronWords("5,10 9 * * *"), null);
  });

  it("find settings by name, value and description", () => {
    const entries = [
      { name: "APP_PORT", value: "8000", source: "default" as const, about: "Where it listens." },
      { name: "APP_API_TOKEN", value: "***", source: "environment" as const, about: "Who may call." },
    ];
    const names = (text: string, set = false) => searchConfig(entries, text, set).map(({ name }) => name);
    assert.deepEqual(names("api token"), ["APP_API_TOKEN"]);
    assert.deepEqual(names("LISTENS 8000"), ["APP_PORT"]);
    assert.deepEqual(names("", true), ["APP_API_TOKEN"]);
    assert.deepEqual(names("port token"), []);
    assert.equal(sourceWords(null), "Program");
    assert.deepEqual(codeParts("Set `A` or B."), [
      { text: "Set ", code: false },
      { text: "A", code: true },
      { text: " or B.", code: false },
    ]);
  });
});

it("after an import only the lines that were refused are left", () => {
  const lines = ["a:1", "nonsense", "b:2", "c"];
  const invalid = [{ index: 1 }, { index: 3 }];
  assert.deepEqual(refusedLines(lines, { invalid, invalid_count: 2 }), ["nonsense", "c"]);
  assert.deepEqual(refusedLines(lines, { invalid, invalid_count: 3 }), lines, "not of each is known whether it is in");
});
