import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type JobInput, pageJobFrom } from "../../src/orchestrator/jobs/input.ts";
import { snippetsOf } from "../../web/src/pages/new/logic/new-commands.ts";
import { EMPTY, type Form, jobOrderOf, orderOf } from "../../web/src/pages/new/logic/new-form.ts";
import { newAction } from "../../web/src/pages/new/logic/page-options.ts";
import { newRule } from "../../web/src/pages/new/logic/rules.ts";
import { codeParts } from "../../web/src/ui/logic/code-parts.ts";
import { asCurl, asOrb, asShell, CHECKS, Recorder } from "./command-kit.ts";

/** What a shell would make something of. */
const NASTY = `it's "$HOME" \`id\` $(id) \\ ! * ~ #; & | <b> %s\tü`;

const RULES = [
  newRule(1, { name: "title", text: "h1" }),
  newRule(2, { name: "price", text: ".price", type: "number" }),
  newRule(3, { name: "link", text: "a.next", attr: "href", type: "url" }),
  newRule(4, { name: "tags", way: "xpath", text: "//a[@rel='tag']", all: true }),
  newRule(5, { name: "sku", way: "jsonpath", text: "$.sku", from: "json-ld" }),
  newRule(6, { name: "id", way: "regex", text: String.raw`item-(\d+)` }),
  newRule(7, { name: "lang", way: "known", text: "language" }),
];
/** Each has something that an option could not say. */
const HARD_RULES = [
  newRule(1, { name: "a b=c", text: "h1" }),
  newRule(2, { name: "mail", text: 'a[href="x@y"]', attr: "href" }),
  newRule(3, { name: "needed", text: ".x", required: true, pattern: "(.)" }),
  newRule(4, { name: "usual", text: ".y", more: { default: "it's" } }),
];
/** Selectors that an option would take for something else; no page has them. */
const ODD_RULES = [newRule(1, { name: "odd", text: "known:title" }), newRule(2, { name: "at", text: "a@href" })];

/** What options can say, and what they cannot. */
const PLAIN_ACTIONS = [
  newAction(1, { selector: "#a" }),
  newAction(2, { selector: "a[href*='x=1']", all: true }),
  newAction(3, { kind: "write", text: NASTY }),
  newAction(4, { kind: "press", text: "Control+A" }),
  newAction(5, { kind: "wait", text: "250" }),
  newAction(6, { kind: "wait_for", selector: ".list" }),
  newAction(7, { kind: "scroll", direction: "up" }),
  newAction(8, { kind: "scroll", amount: "300" }),
];
const MORE_ACTIONS = [
  newAction(1, { kind: "scroll", selector: ".list" }),
  newAction(2, { kind: "screenshot", all: true }),
  newAction(3, { kind: "scrape" }),
];
const WISHES: Partial<Form> = {
  asDocument: true,
  formats: ["markdown", "links", "screenshot_full"],
  wholePage: true,
  includeTags: "main\narticle",
  excludeTags: ".ad",
  waitFor: ".x",
  waitMs: "1500",
  mobile: true,
  blockResources: true,
  actions: [...PLAIN_ACTIONS, ...MORE_ACTIONS],
};

const CRAWLS: Record<string, Partial<Form>> = {
  "an address": { url: "https://shop.example/" },
  "several addresses and every option": {
    url: `https://shop.example/?q=${encodeURIComponent("a b")}&x='1'\n\n https://other.example/ `,
    depth: "0",
    pages: "50",
    concurrency: "3",
    minutes: "2.5",
    include: `/blog/**\n-dash\n${NASTY}`,
    exclude: "/private/**",
    anySite: true,
    sitemap: true,
    ignoreRobots: true,
    article: true,
    strategy: "browser",
    proxy: "socks5://user:pa'ss@host.example:1080",
    tries: "2",
    rules: RULES,
    items: { way: "css", text: "article.product", from: "" },
  },
  "rules that need a file": {
    url: "https://shop.example/",
    rules: HARD_RULES,
    schema: '{"type":"object"}',
  },
  "selectors that look like something else": { url: "https://shop.example/", rules: ODD_RULES },
  "headers, the page itself and all that a browser does": {
    url: "https://shop.example/",
    headers: `X-Note: ${NASTY}`,
    ...WISHES,
  },
  "the page itself beside fields": { url: "https://shop.example/", asDocument: true, rules: RULES.slice(0, 2) },
  "well-known fields": {
    url: "https://shop.example/",
    rules: ["title", "price"].map((name, n) => newRule(n, { name, way: "known", text: name })),
  },
};

const SCRAPES: Record<string, Partial<Form>> = {
  "an address": { url: "https://shop.example/thing?a=1&b='2'" },
  "every option": {
    url: "https://shop.example/",
    strategy: "http",
    proxy: "http://proxy.example:3128",
    respectRobots: true,
    timeout: "12.5",
    tries: "3",
    headers: `X-Note: ${NASTY}\nAccept-Language: de`,
    cookies: "theme=dark=1\nid='7'",
    rules: RULES.slice(0, 4),
    items: { way: "xpath", text: "//li[@class='a']", from: "" },
  },
  "waiting for something": { url: "https://shop.example/", waitFor: ".list > li" },
  "actions that options can say": {
    url: "https://shop.example/",
    waitMs: "1250",
    mobile: true,
    actions: PLAIN_ACTIONS,
    rules: RULES.slice(0, 1),
  },
  "all that a browser does": { url: "https://shop.example/", rules: RULES.slice(0, 2), ...WISHES },
  "its links": { url: "https://shop.example/", asDocument: true, formats: ["links"] },
  "all of it as it was received": {
    url: "https://shop.example/",
    asDocument: true,
    formats: ["raw_html"],
    wholePage: true,
  },
  "its Markdown": { url: "https://shop.example/", asDocument: true },
  "rules that need a file": {
    url: "https://shop.example/",
    rules: HARD_RULES,
    schema: '{"type":"object"}',
  },
};

const formWith = (kind: Form["kind"], more: Partial<Form>): Form => ({ ...EMPTY, kind, ...more });

describe("the commands beside the form", () => {
  const recorder = new Recorder();
  let origin = "";
  before(async () => {
    origin = await recorder.start();
  });
  after(() => recorder[Symbol.asyncDispose]());
  const server = () => ({ origin, needsToken: true });

  for (const [name, more] of Object.entries(CRAWLS))
    test(`a crawl with ${name}: orb and curl send what the form sends`, async () => {
      const form = formWith("crawl", more);
      const { curl, orb, json } = snippetsOf(form, server());
      const { body } = orderOf(form);
      const { stderr } = await asOrb(asShell(orb));
      assert.deepEqual(recorder.body, body, `${orb}\n${stderr}`);
      const sent = asCurl(asShell(curl));
      assert.deepEqual([sent.path, sent.type], ["/scraping/async-scrape", "application/json"]);
      assert.deepEqual([JSON.parse(sent.body), JSON.parse(json)], [body, body]);
    });

  for (const [name, more] of Object.entries(SCRAPES))
    test(`a page with ${name}: orb and curl ask for what the form asks for`, async () => {
      const form = formWith("scrape", more);
      const { curl, orb } = snippetsOf(form, server());
      const { body, problems } = orderOf(form);
      assert.deepEqual(problems, []);
      const { stderr } = await asOrb(asShell(orb));
      assert.deepEqual(
        pageJobFrom(recorder.body as JobInput, CHECKS),
        pageJobFrom(body as JobInput, CHECKS),
        `${orb}\n${stderr}`,
      );
      const sent = asCurl(asShell(curl));
      assert.deepEqual([sent.path, JSON.parse(sent.body)], ["/runs", body]);
    });

  test("a job that is saved, and one that is changed", async () => {
    const form = formWith("crawl", {
      ...CRAWLS["several addresses and every option"],
      name: NASTY,
      schedule: "0 6 * * *",
    });
    const created = snippetsOf(form, server(), { job: null });
    await asOrb(asShell(created.orb));
    assert.deepEqual(recorder.body, jobOrderOf(form).body);
    assert.deepEqual(JSON.parse(asCurl(asShell(created.curl)).body), jobOrderOf(form).body);
    const id = "0197c000-0000-7000-8000-000000000001";
    recorder.answers[`GET /jobs/${id}`] = { kind: "crawl" };
    const changed = snippetsOf(form, server(), { job: id });
    await asOrb(asShell(changed.orb));
    assert.deepEqual(recorder.body, jobOrderOf(form, { changes: true }).body);
    const sent = asCurl(asShell(changed.curl));
    assert.deepEqual([sent.method, sent.path], ["PATCH", `/jobs/${id}`]);
    assert.deepEqual(JSON.parse(sent.body), jobOrderOf(form, { changes: true }).body);
  });

  test("a template with plain params, with deep ones, and a definition as it was typed", async () => {
    const schema = { properties: { label: { type: "string" }, count: { type: "integer" }, on: { type: "boolean" } } };
    recorder.answers["GET /workflows/templates/price-monitor"] = { name: "price-monitor", params: schema };
    recorder.answers["GET /workflows/templates/price-monitor?version=2"] = { name: "price-monitor", params: schema };
    for (const params of [
      { label: NASTY, count: 3, on: false },
      { label: "12", count: 3 },
      { label: "x", crawl: { url: ["https://a.example/"] } },
    ]) {
      const form = formWith("workflow", {
        template: "price-monitor",
        templateVersion: "2",
        params,
        runName: "a 'name'",
      });
      const { curl, orb } = snippetsOf(form, server());
      const { stderr } = await asOrb(asShell(orb));
      assert.deepEqual(recorder.body, orderOf(form).body, `${orb}\n${stderr}`);
      assert.deepEqual(JSON.parse(asCurl(asShell(curl)).body), orderOf(form).body);
    }
    const definition = `name: "${"it's"} $(id)"\nsteps: []\nORB\n`;
    const form = formWith("workflow", { source: "definition", definition });
    const called = asShell(snippetsOf(form, server()).curl);
    assert.deepEqual([asCurl(called).type, asCurl(called).body], ["application/yaml", definition]);
    const run = asShell(snippetsOf(form, server()).orb);
    assert.deepEqual([run.args.slice(0, 3), run.input], [["workflows", "run", "-"], definition]);
  });

  test("what options can say is said with them", () => {
    const orbOf = (more: Partial<Form>) =>
      snippetsOf(formWith("scrape", { url: "https://a.example/", ...more }), server()).orb;
    assert.match(orbOf({ waitMs: "1500", mobile: true }), /--wait 1\.5[^]*--mobile/);
    assert.match(orbOf({ actions: [newAction(1, { selector: "#more" })] }), /--action ['"]?click=#more/);
    assert.match(orbOf({ asDocument: true, formats: ["html"] }), /--format html/);
    assert.match(orbOf({ asDocument: true }), /--rules -[^]*"markdown"/);
  });

  test("what no option can say is not left out: a job says it", () => {
    const form = formWith("scrape", { url: "https://a.example/", kept: { escalate: false } });
    const { orb } = snippetsOf(form, server());
    assert.match(orb, /^# orb scrape has no option for escalate/);
    const { args, input } = asShell(orb);
    assert.deepEqual([args.slice(0, 2), JSON.parse(input)], [["jobs", "create"], jobOrderOf(form).body]);
  });
});

test("where a command is too wide, its lines break behind parts of addresses, and never within an option", () => {
  const text =
    "curl \\\n  http://127.0.0.1:8000/scraping/async-scrape \\\n  --max-time 5 \\\n  -d '{\n    \"a\": 1\n  }' https://a.example/internationalisation-of-everything?utm_campaign=one&page=2";
  const parts = codeParts(text);
  assert.equal(parts.map((part) => part.text).join(""), text);
  const shown = parts.map((part) => `${part.joint ? "|" : ""}${part.whole ? `(${part.text})` : part.text}`).join("");
  assert.equal(
    shown,
    [
      "(curl \\)",
      "(  http://127.0.0.1:8000/)|(scraping/)|(async-scrape \\)",
      "(  --max-time) (5 \\)",
      "(  -d) '{",
      '(    "a":) 1',
      "(  }') (https://a.example/)|(internationalisation-)|(of-)|(everything?)|(utm_campaign=)|(one&)|(page=)|2",
    ].join("\n"),
  );
  const times = codeParts(`-d '{"url": "https://example.com", "schedule": "0 9 * * *"}'`);
  assert.deepEqual(
    times.filter((part) => part.whole).map((part) => part.text),
    ["-d", '"https://example.com",', `"0 9 * * *"}'`],
  );
  assert.deepEqual(codeParts("orb demo"), [{ text: "orb demo", whole: false, joint: false }]);
  const long = "x".repeat(30_000);
  assert.deepEqual(codeParts(long), [{ text: long, whole: false, joint: false }]);
});
