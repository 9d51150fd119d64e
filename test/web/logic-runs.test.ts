import assert from "node:assert/strict";
import { test } from "node:test";
import { RUN_KINDS as KNOWN_KINDS, RUN_STATES as KNOWN_STATES } from "../../src/domain/states.ts";
import { EXPORT_FORMATS as KNOWN_FORMATS } from "../../src/exporters/registry.ts";
import { documentIn, documentLine, documentParts, fileStem } from "../../web/src/logic/whole-page.ts";
import { lineOf, safeHref, shapeOf } from "../../web/src/logic/nested.ts";
import { changeAll, countWords, matchedWords } from "../../web/src/logic/bulk.ts";
import { cellText, EXPORT_FORMATS, resultColumns, type ResultRow, valueAt } from "../../web/src/logic/result-table.ts";
import { configurationOf } from "../../web/src/logic/run-configuration.ts";
import { type EventList, noEvents, type RunEvent, shownEvents, withEvents } from "../../web/src/logic/run-events.ts";
import {
  choiceOf,
  matches,
  NO_FILTER,
  queryOf,
  readFilter,
  RUN_KINDS,
  RUN_STATES,
  writeFilter,
} from "../../web/src/logic/run-filter.ts";
import {
  actionsOf,
  atWorkWords,
  belowTitle,
  messageBeside,
  outcomeBesideCounts,
  outcomeWords,
  placeIn,
  progressWords,
  titleOf,
  waitingPlaces,
} from "../../web/src/logic/run-page.ts";
import { progressOf } from "../../web/src/logic/run-progress.ts";
import { choose, hasGrown, isPartlyTold, withRows } from "../../web/src/logic/run-rows.ts";
import { addView, BUILT_IN, currentView, readViews, removeView, writeViews } from "../../web/src/logic/saved-views.ts";

const NOW = Date.parse("2026-05-04T10:20:30Z");

test("the dashboard knows every state, kind and format that the server has", () => {
  assert.deepEqual([...RUN_STATES], [...KNOWN_STATES]);
  assert.deepEqual([...RUN_KINDS].toSorted(), [...KNOWN_KINDS].toSorted());
  assert.deepEqual(EXPORT_FORMATS.map(({ format }) => format).toSorted(), [...KNOWN_FORMATS].toSorted());
});

test("a filter goes into the address and comes back, and what is no filter is passed over", () => {
  const text = "status=running,failed&kind=crawl&site=shop.example%3A81&q=a+%26+b&time=24h&steps=true";
  const filter = readFilter(new URLSearchParams(text));
  assert.deepEqual(filter, {
    status: ["running", "failed"],
    kind: "crawl",
    site: "shop.example:81",
    q: "a & b",
    job: "",
    span: "24h",
    steps: true,
  });
  assert.equal(writeFilter(filter), text);
  const odd = readFilter(new URLSearchParams("status=nope,,&kind=__proto__&time=x&job=1&q=%20%20"));
  assert.deepEqual(odd, NO_FILTER);
  assert.equal(writeFilter(NO_FILTER), "");
});

test("what the server is asked is the filter, with a beginning that stays the same for a minute", () => {
  const filter = readFilter(new URLSearchParams("status=failed,partial&time=1h&q=x"));
  assert.deepEqual(queryOf(filter, NOW), {
    status: "partial,failed",
    q: "x",
    parent: "none",
    since: "2026-05-04T09:20:00.000Z",
  });
  assert.deepEqual(queryOf(filter, NOW), queryOf(filter, NOW + 20_000));
  assert.deepEqual(choiceOf(filter, NOW), {
    status: ["partial", "failed"],
    q: "x",
    parent: "none",
    since: "2026-05-04T09:20:00.000Z",
  });
  const all = { ...NO_FILTER, steps: true };
  assert.deepEqual([queryOf(all, NOW), choiceOf(all, NOW)], [{}, {}], "with those of steps");
  assert.deepEqual(queryOf({ ...NO_FILTER, q: "0bb57da0-3a" }, NOW), { q: "0bb57da0-3a" }, "an id is any run's");
});

const run = (id: string, more: object = {}) => ({
  id,
  job_id: null,
  status: "running",
  kind: "crawl",
  site: "a.example",
  name: null as string | null,
  url: "https://a.example/Start" as string | null,
  created_at: `2026-05-04T10:00:0${id}Z`,
  ...more,
});

test("a run that has just begun is put into the lists it belongs to, and into no other", () => {
  const fits = (search: string, more: object = {}) =>
    matches(readFilter(new URLSearchParams(search)), run("1", more), NOW);
  assert.ok(fits(""));
  assert.ok(fits("q=start") && !fits("q=other"));
  assert.ok(fits("q=named", { name: "Well named" }));
  assert.ok(fits("status=running&kind=crawl&site=a.example&time=1h"));
  assert.ok(!fits("status=failed") && !fits("kind=page") && !fits("site=b.example"));
  const ofStep = { parent: { run_id: "2", task_id: "3" } };
  assert.ok(!fits("", ofStep) && fits("steps=true", ofStep) && fits("", { parent: null }));
  assert.ok(!fits("time=1h", { created_at: "2026-05-04T09:00:00Z" }));
  const pages = [
    { rows: [run("5"), run("3")], next: "x" },
    { rows: [run("2")], next: "y" },
  ];
  const changed = [run("3", { status: "failed" }), run("7"), run("4"), run("1"), run("8", { kind: "page" })];
  const next = withRows(pages, changed, ({ kind }) => kind === "crawl");
  assert.deepEqual(
    next.map(({ rows }) => rows.map(({ id, status }) => `${id} ${status}`)),
    [["7 running", "5 running", "4 running", "3 failed"], ["2 running"]],
    "what is older than all that was loaded is loaded in its turn",
  );
  assert.equal(next[1], pages[1], "pages without changes are the same");
  assert.equal(pages[0]?.rows[1]?.status, "running");
  const whole = withRows([pages[0]!, { rows: [run("2")], next: null }], [run("1"), run("4")], () => true);
  assert.deepEqual(
    whole.map(({ rows }) => rows.map(({ id }) => id)),
    [
      ["5", "4", "3"],
      ["2", "1"],
    ],
    "a complete list has also what is older",
  );
  const none = withRows([{ rows: [] as ReturnType<typeof run>[], next: null }], [run("1")], () => true);
  assert.deepEqual(none[0]?.rows.length, 1);
});

test("a list that has grown, or that the stream tells in part, is loaded again", () => {
  const pages = (...sizes: number[]) =>
    sizes.map((size) => ({ rows: Array.from({ length: size }, (_, index) => run(String(index % 10))) }));
  assert.deepEqual(
    [[4], [8], [9], [8, 4], [9, 4]].map((sizes) => hasGrown(pages(...sizes), 4)),
    [false, false, true, false, true],
  );
  const isRunning = (status: string) => status === "running";
  assert.deepEqual([isPartlyTold(pages(10, 10), isRunning), isPartlyTold(pages(10, 11), isRunning)], [false, true]);
});

test("many runs are changed call by call: what was counted, each once, until somebody stops it", async () => {
  const asked: string[] = [];
  const outcome = (next: string | null) => ({
    done: 2,
    failed_count: 1,
    failed: [{ run_id: "r", detail: "d" }],
    next,
  });
  const sums: number[] = [];
  const go = (signal: AbortSignal, calls: (string | null)[]) =>
    changeAll(
      { next: "first" },
      (from) => {
        asked.push(from);
        return Promise.resolve(outcome(calls.shift() ?? null));
      },
      ({ done }) => sums.push(done),
      signal,
    );
  const sum = await go(new AbortController().signal, ["second", "third", null]);
  assert.deepEqual([asked, sums, sum.failed.length], [["first", "second", "third"], [2, 4, 6], 3]);
  assert.equal((await go(AbortSignal.abort(), ["second"])).done, 0);
  assert.equal(matchedWords(10_000), "10,000 or more runs");
  assert.equal(countWords(12_345), "12,345 runs");
});

test("views have names, are kept, replaced and removed, and whatever stands in the storage does no harm", () => {
  const failed = readFilter(new URLSearchParams("status=failed&site=shop.example"));
  const views = addView(addView([], "  Shop  ", failed), "Mine", NO_FILTER);
  assert.deepEqual(readViews(writeViews(views)), views);
  assert.equal(currentView(views, failed)?.name, "Shop");
  assert.equal(currentView(BUILT_IN, NO_FILTER)?.name, "All");
  assert.deepEqual(
    addView(views, "Shop", NO_FILTER).map(({ name }) => name),
    ["Mine", "Shop"],
  );
  assert.deepEqual(removeView(views, "Shop"), [{ name: "Mine", filter: NO_FILTER }]);
  assert.deepEqual(addView([], "  ", failed), []);
  for (const bad of [null, "", "{", "{}", "[1,null,{}]", '[{"name":" ","search":""}]'])
    assert.deepEqual(readViews(bad), []);
});

test("rows are chosen one by one and, with shift, all between two", () => {
  const ids = ["a", "b", "c", "d"];
  const one = choose(new Set(), ids, "b", { last: null, range: false });
  assert.deepEqual([...one], ["b"]);
  const more = choose(one, ids, "d", { last: "b", range: true });
  assert.deepEqual([...more].toSorted(), ["b", "c", "d"]);
  assert.deepEqual([...choose(more, ids, "b", { last: "d", range: true })], []);
  assert.deepEqual([...choose(one, ids, "a", { last: "gone", range: true })].toSorted(), ["a", "b"]);
});

test("only what a run's state allows is offered", () => {
  const offered = (status: string, kind = "crawl") =>
    Object.entries(actionsOf({ status, kind }))
      .filter(([, can]) => can)
      .map(([name]) => name);
  assert.deepEqual(offered("running"), ["cancel", "pause", "retryFailed", "clone"]);
  assert.deepEqual(offered("paused"), ["cancel", "resume", "clone"]);
  assert.deepEqual(offered("waiting_for_human", "page"), ["cancel", "clone"]);
  assert.deepEqual(offered("cancelled"), ["clone"]);
  assert.deepEqual(offered("partial"), ["retryFailed", "clone"]);
  assert.deepEqual(offered("completed", "queue"), []);
});

test("how far a run is, in as few words as are known", () => {
  const counts = { queued: 5, running: 2, retrying: 0, completed: 12, failed: 1, skipped: 0 };
  const words = (more: object) =>
    progressWords({ counts, progress: 65, perSecond: 2.5, etaSeconds: 40, active: true, ...more });
  assert.equal(words({}), "13 of 20 known pages · 2.5/s · 40 s left");
  assert.equal(words({ perSecond: 0, etaSeconds: null }), "13 of 20 known pages");
  assert.equal(words({ active: false, counts: { ...counts, queued: 0, running: 0 } }), "13 pages");
  assert.equal(words({ active: false, counts: null }), "");
  // Of a crawl that has seen little yet the bar is about what it may fetch; it never falls when more becomes known.
  assert.equal(words({ progress: 15, etaSeconds: null, perSecond: null }), "13 pages done, 20 known so far");
  assert.equal(words({ progress: 80, etaSeconds: null, perSecond: null }), "13 pages done, 20 known so far");
  assert.deepEqual(["Run completed", "Run started", null].map(outcomeWords), ["", "", ""]);
  assert.deepEqual(
    [
      "Run completed: 151 pages got",
      "Run completed in part: 3 pages got (1 unchanged); 1 page failed",
      "Run completed: 9 pages got, 2 not found; it has as many pages as it may have",
      "Run failed: nothing was got",
      "Run completed in part: 93 pages got, 1 not found, 1 disallowed by robots.txt; 3 pages failed",
    ].map(outcomeBesideCounts),
    [
      "",
      "",
      "2 not found; it has as many pages as it may have",
      "nothing was got",
      "1 not found; 1 disallowed by robots.txt; 3 failed otherwise",
    ],
  );
  assert.equal(atWorkWords(60_000, 58), null);
  assert.equal(atWorkWords(60_000, 50, 20_000), null, "asked for a while ago");
  assert.equal(atWorkWords(288_000, 25, 20_000), "at work for 25 s of it");
  assert.equal(atWorkWords(7_200_000, 600), "at work for 10m of it");
  assert.equal(outcomeWords("Run completed in part: 8 pages got"), "8 pages got");
  assert.equal(outcomeWords("Something else"), "Something else");
  assert.equal(titleOf({ name: " ", url: "https://www.a.example/", kind: "page" }), "a.example");
  assert.equal(titleOf({ name: null, url: null, kind: "queue" }), "The queue");
});

test("events come once, and are found by level, by their words and by what they say beside", () => {
  const event = (id: string, level: RunEvent["level"], message: string, meta = {}): RunEvent => ({
    id,
    run_id: "r",
    level,
    message,
    meta,
    created_at: "2026-05-04T10:00:00Z",
  });
  const idsOf = ({ list }: EventList) => list.map(({ id }) => id);
  const first = withEvents(noEvents(), [
    event("1", "info", "Run created"),
    event("2", "warn", "Retry scheduled", { url: "https://x/Deep" }),
  ]);
  const all = withEvents(first, [event("2", "warn", "Retry scheduled"), event("3", "error", "Run failed")]);
  assert.deepEqual(
    [idsOf(first), idsOf(all)],
    [
      ["1", "2"],
      ["1", "2", "3"],
    ],
  );
  assert.equal(withEvents(all, [event("3", "error", "Run failed")]), all);
  const shown = (level: "all" | "warn" | "error", text = "") =>
    shownEvents(all.list, { level, text }).map(({ id }) => id);
  assert.deepEqual([shown("all"), shown("warn"), shown("error")], [["1", "2", "3"], ["2", "3"], ["3"]]);
  assert.deepEqual([shown("all", " RUN "), shown("all", "deep")], [["1", "3"], ["2"]]);
  // Of very many the newest are kept, and how many there were is known.
  const more = withEvents(all, [event("4", "info", "a"), event("5", "info", "b"), event("4", "info", "a")], 3);
  assert.deepEqual([idsOf(more), more.ids.size, more.total], [["3", "4", "5"], 3, 5]);
});

test("how far a run is comes from what is newer, and at its end from the answer alone", () => {
  const counts = { queued: 1, running: 1, retrying: 0, completed: 11, failed: 0, skipped: 0 };
  const told = (status: "running" | "completed", at: number) => ({
    at,
    run: { status, counts, per_second: 4, eta_seconds: 9 },
  });
  const asked = (completed_items: number, at: number) => ({
    at,
    crawl: {
      queued_items: 3,
      retrying_items: 1,
      running_items: 0,
      completed_items,
      failed_items: 2,
      skipped_items: 0,
      pages_per_second: 2,
    },
  });
  const progress = (...[status, live, crawl]: Parameters<typeof progressOf>) => {
    const { counts: known, perSecond, etaSeconds } = progressOf(status, live, crawl);
    return [known?.completed, perSecond, etaSeconds];
  };
  assert.deepEqual(progress("running", told("running", 2000), asked(10, 1000)), [11, 4, 9]);
  // The answer knows more pages; how fast it goes the stream said a moment ago.
  assert.deepEqual(progress("running", told("running", 1000), asked(12, 2000)), [12, 4, 9]);
  // Of a run that is not among the newest the stream says nothing any more.
  assert.deepEqual(progress("running", told("running", 1000), asked(20, 60_000)), [20, 2, null]);
  // It ended unheard: what was told before is of no worth, however new it is.
  assert.deepEqual(progress("completed", told("running", 9000), asked(25, 8000)), [25, 2, null]);
  assert.deepEqual(progress("completed", told("running", 9000), null), [undefined, null, null]);
  assert.deepEqual(progress("completed", told("completed", 9000), null), [11, 4, 9]);
  // It was begun anew after it had ended.
  assert.deepEqual(progress("running", told("completed", 9000), asked(25, 8000)), [25, 2, null]);
  assert.deepEqual(progressOf("running", null, asked(5, 0)).counts, {
    queued: 2,
    running: 0,
    retrying: 1,
    completed: 5,
    failed: 2,
    skipped: 0,
  });
});

test("records of any shape become a table", () => {
  const rows: ResultRow[] = [
    {
      id: "1",
      url: "u",
      created_at: "",
      data: { url: "u", title: "A", markdown: "…", fields: { price: 3, "a.b": 1 } },
    },
    { id: "2", url: "u", created_at: "", data: { title: null, tags: ["x", "y"], constructor: "odd" } },
  ];
  const columns = resultColumns(rows);
  assert.deepEqual(
    columns.map(({ id, hidden }) => `${id}${hidden ? " hidden" : ""}`),
    ["fields.price", "fields.a.b", "title", "markdown hidden", "tags", "constructor"],
  );
  const twice = [{ id: "1", url: "u", created_at: "", data: { title: "A", fields: { title: "B", url: "c" } } }];
  assert.deepEqual(
    resultColumns(twice).map(({ name }) => name),
    ["title", "url (found)", "title (of the page)"],
    "columns can be told apart",
  );
  assert.deepEqual(
    columns.filter(({ isNumber }) => isNumber).map(({ name }) => name),
    ["price", "a.b"],
  );
  assert.deepEqual(
    ["fields.price", "fields.a.b", "title", "toString", "fields"].map((id) =>
      cellText(valueAt(rows[0]?.data ?? {}, id)),
    ),
    ["3", "1", "A", null, "price: 3, a.b: 1"],
  );
  assert.equal(cellText(["x", "y"]), "x, y");
  assert.equal(cellText("  two\n lines "), "two lines");
  assert.equal(cellText({ a: [1, 2], b: null }), "a: 1, 2, b: –");
  assert.equal(cellText([{ name: "Tea", price: 4.5 }, { name: "Honey" }]), "name: Tea, price: 4.5; name: Honey");
  assert.deepEqual([cellText([]), cellText({}), cellText(false)], [null, null, "false"]);
  assert.equal(cellText(0), "0");
  assert.equal(cellText(null), null);
  assert.equal(cellText("x".repeat(300))?.length, 201);
});

test("values of any depth are shown as what they are", () => {
  assert.deepEqual(shapeOf(null), { kind: "none" });
  assert.deepEqual(shapeOf(0), { kind: "text", text: "0" });
  assert.deepEqual(shapeOf("https://a.example/x?y=1"), { kind: "link", href: "https://a.example/x?y=1" });
  assert.deepEqual(shapeOf(["a", "b"]), { kind: "list", values: ["a", "b"] });
  assert.deepEqual(shapeOf({ a: { b: 1 } }), { kind: "pairs", pairs: [["a", { b: 1 }]] });
  const rows = [{ name: "Tea", price: 4 }, { name: "Honey" }];
  assert.deepEqual(shapeOf(rows), { kind: "table", columns: ["name", "price"], rows });
  assert.equal(shapeOf([{ a: 1 }, { a: [1] }]).kind, "list", "what is not flat is no table");
  assert.equal(shapeOf({ a: 1 }, 3).kind, "json", "boxes in boxes in boxes help nobody");
  for (const text of [
    "javascript:alert(1)",
    "https://a.example/ x",
    "see https://a.example/",
    "//a.example",
    "https://",
  ])
    assert.equal(safeHref(text), null, text);
  assert.ok(
    lineOf(
      Array.from({ length: 100_000 }, () => "x".repeat(50)),
      200,
    ).length < 500,
    "no more than is wanted",
  );
});

test("a page as a whole says what it is in a line, and is opened form by form", () => {
  const metadata = {
    title: ["A page", "again"],
    source_url: "http://a.example/",
    url: "https://a.example/b/c.html?d=1",
  };
  const page = {
    markdown: "# Hello\n\nworld",
    links: ["https://b.example/"],
    metadata: { ...metadata, status_code: 200 },
  };
  const whole = {
    ...page,
    html: "<h1>Hello</h1>",
    raw_html: "<html>",
    images: [],
    screenshot: { artifact_id: "p1" },
    actions: {
      screenshots: [{ artifact_id: "p2" }, { artifact_id: null }],
      scrapes: [{ url: "https://a.example/s", html: "<b>" }],
    },
    truncated: ["html", "actions.scrapes"],
  };
  assert.equal(documentIn({ metadata: { title: "a field that is called so" } }), null);
  assert.equal(documentIn("text"), null);
  const line = (document: object) => documentLine(documentIn(document)!);
  assert.deepEqual(line(page), { title: "A page", note: "14 B · Markdown, links" });
  const untitled = { ...page, metadata: { ...page.metadata, title: null } };
  assert.equal(line(untitled).title, "Hello world");
  assert.equal(line({ ...untitled, markdown: "" }).title, "a.example/b/c.html?d=1");
  assert.equal(line(whole).note, "34 B · Markdown, HTML, Raw HTML, links, images, screenshot");
  const parts = documentParts(documentIn(whole)!);
  assert.deepEqual(
    parts.map(({ id, kind, size, isCut }) => `${id} ${kind} ${size}${isCut ? " cut" : ""}`),
    [
      "markdown text 14 B",
      "html html 14 B cut",
      "raw_html html 6 B",
      "links addresses 1 address",
      "images addresses 0 addresses",
      "screenshots pictures 2 pictures",
      "scrape-1 html 3 B cut",
      "metadata facts 4 entries",
    ],
  );
  assert.deepEqual(
    parts.flatMap((part) => ("file" in part ? part.file : part.artifacts)),
    ["a.example-b-c.md", "a.example-b-c.html", "a.example-b-c.raw.html", "a.example-b-c.links.txt"].concat([
      "a.example-b-c.images.txt",
      "p1",
      "p2",
      "a.example-b-c.scrape-1.html",
      "a.example-b-c.metadata.json",
    ]),
  );
  assert.deepEqual([fileStem("https://a.example/../x y/"), fileStem("")], ["a.example-..-x-y", "page"]);
  const rows = [page, null].map((document, n) => ({ id: String(n), url: "", created_at: "", data: { document } }));
  assert.deepEqual(resultColumns(rows), [
    { id: "document", name: "document", hidden: false, isNumber: false, isDocument: true },
  ]);
});

test("what a run waits for names its site once", () => {
  const message = "a.example: It is paused: resume it to go on";
  assert.equal(messageBeside("a.example/start", message), "It is paused: resume it to go on");
  assert.equal(messageBeside("Prices", message), message);
});

test("what a run was asked for is read by name, without what nobody has set", () => {
  const { plain, rules } = configurationOf({
    kind: "crawl",
    name: null,
    tags: [],
    crawl: {
      url: ["https://a.example/", "https://b.example/"],
      max_pages: 50,
      same_site: true,
      fields: { a: { css: "b" } },
    },
  });
  assert.deepEqual(
    plain.map(({ name, value }) => `${name}: ${value}`),
    ["Kind: Crawl", "URL: https://a.example/, https://b.example/", "Pages, at most: 50", "Stays on the site: Yes"],
  );
  assert.deepEqual(rules, [
    { name: "What is read", key: "fields", value: JSON.stringify({ a: { css: "b" } }, null, 2) },
  ]);
});

test("where a run waits, and what sets its pace, is told by its sites", () => {
  const at = (site: string, reason: string | null) => ({
    site,
    waiting_for: reason === null ? null : { reason, until: null, message: `It waits: ${reason}` },
  });
  const names = (...sites: ReturnType<typeof at>[]) => {
    const { held, paced } = waitingPlaces(sites);
    return [held.map(({ site }) => site), paced?.site ?? null];
  };
  assert.deepEqual(names(at("a.example", null), at("b.example", "circuit_open")), [["b.example"], null]);
  assert.deepEqual(names(at("a.example", "min_delay")), [[], "a.example"]);
  assert.deepEqual(names(at("a.example", "min_delay"), at("b.example", null)), [[], null]);
  assert.deepEqual(names(at("a.example", "run_paused")), [[], null]);
  assert.deepEqual(placeIn("a.example:8080: It is paused"), { site: "a.example:8080", message: "It is paused" });
  assert.deepEqual(placeIn("No worker runs: start one").site, null);
});

test("runs of one address are told apart by what stands below them", () => {
  const run = { id: "60a997cb-f979", name: null, url: "http://a.example:9901/", kind: "crawl", site: "a.example:9901" };
  assert.equal(belowTitle(run), "/ · 60a997cb");
  assert.equal(belowTitle({ ...run, url: "http://a.example:9901/list?page=2" }), "/list?page=2 · 60a997cb");
  assert.equal(belowTitle({ ...run, name: "Prices" }), "a.example:9901");
  assert.equal(belowTitle({ ...run, url: null, kind: "queue" }), null);
});
