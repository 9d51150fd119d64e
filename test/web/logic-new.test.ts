import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTION_TYPES, DOCUMENT_FORMATS } from "../../src/domain/page/page-options.ts";
import { draftOf, readDraft } from "../../web/src/pages/new/logic/draft.ts";
import { describeFound, problemsByRule } from "../../web/src/pages/new/logic/found.ts";
import { EMPTY, type Form, jobOrderOf, orderOf, previewOf } from "../../web/src/pages/new/logic/new-form.ts";
import { formOf } from "../../web/src/pages/new/logic/new-prefill.ts";
import { moreSet, problemsByField } from "../../web/src/pages/new/logic/new-problems.ts";
import { ACTIONS, browserReason, FORMATS, newAction, withFormat } from "../../web/src/pages/new/logic/page-options.ts";
import { type Ask, pickField } from "../../web/src/pages/new/logic/pick.ts";
import {
  freeName,
  newRule,
  ruleProblems,
  rulesFromFields,
  rulesToFields,
} from "../../web/src/pages/new/logic/rules.ts";
import {
  fieldsOf,
  isChanged,
  problemsOfParams,
  tidied,
  typedParam,
  withParam,
  tidyPairs,
} from "../../web/src/pages/new/logic/schema-form.ts";
import { candidatesOf, type Chain, meaningfulClasses, type Node, pathOf } from "../../web/src/logic/selector.ts";

const node = (tag: string, more: Partial<Node> = {}): Node => ({
  tag,
  id: "",
  classes: [],
  attributes: {},
  nth: 1,
  ofType: 1,
  only: false,
  alike: 1,
  ...more,
});

/** A page in which only these selectors find the element first, and this often. */
const page =
  (found: Record<string, number>, inside: Record<string, number> = {}): Ask =>
  async (selectors, within) =>
    selectors.map((selector) => {
      const count = (within === null ? found : inside)[selector] ?? 0;
      return { count, first: count > 0 };
    });

test("names that a page gives things are used; those that tools or states give are not", () => {
  const classes = ["css-1x2y3z", "price", "active", "mt-4", "is-open", "md:flex", "col-xs-6", "a1b2c3d4", "x1234"];
  assert.deepEqual(
    meaningfulClasses([...classes, "product_pod", "sc-bdVaJa", "card__price", "card__aB3xY", "Card__hdKlmN"]),
    ["price", "product_pod", "card__price"],
  );
  const target = node("span", {
    id: "radix-12",
    classes: ["price"],
    attributes: { itemprop: "price", "data-id": "4711" },
  });
  const [first, second] = candidatesOf([target]);
  assert.deepEqual([first, second], ['span[itemprop="price"]', "span.price"]);
});

test("one element: by its id, else by a name that it has alone, else by one around it, and by its place at last", async () => {
  const body = [node("body"), node("html")];
  const heading = { chain: [node("h1", { id: "top" }), ...body], text: "All" };
  assert.deepEqual(await pickField(heading, null, page({ "#top": 1 })), {
    name: "top",
    selector: "#top",
    attr: "",
    type: "",
    items: null,
  });
  const chain: Chain = [node("a", { nth: 2, ofType: 3 }), node("li"), node("ul", { classes: ["menu"] }), ...body];
  const selectorIn = async (ask: Ask) =>
    ((await pickField({ chain, text: "Two" }, null, ask)) as { selector: string }).selector;
  assert.equal(await selectorIn(page({ "ul.menu a": 1 })), "ul.menu a");
  assert.equal(await selectorIn(page({ "ul.menu a": 3 })), "ul.menu > li > a:nth-of-type(2)");
  assert.equal(pathOf([node("p", { nth: 2, ofType: 2 }), ...body]), "body > p:nth-of-type(2)");
});

test("one of many: the longest list around it, and where the value is in each item", async () => {
  const chain: Chain = [
    node("p", { classes: ["price"] }),
    node("article", { classes: ["pod"], only: true }),
    node("li", { alike: 20, nth: 3, ofType: 20 }),
    node("ol"),
    node("body"),
    node("html"),
  ];
  const counts = { "article.pod": 20, "ol > li": 20 };
  const picked = await pickField({ chain, text: "£11.50" }, { items: "" }, page(counts, { "p.price": 1 }));
  assert.deepEqual(picked, { name: "price", selector: "p.price", attr: "", type: "number", items: "article.pod" });
  // The article is in other places, too: then it is no name for the items.
  const other = await pickField(
    { chain, text: "x" },
    { items: "" },
    page({ ...counts, "article.pod": 25 }, { "p.price": 1 }),
  );
  assert.equal((other as { items: string }).items, "ol > li");
  const again = await pickField(
    { chain, text: "x" },
    { items: "li" },
    page({}, { ":scope > article:nth-of-type(1) > p:nth-of-type(1)": 1, p: 1 }),
  );
  assert.deepEqual([(again as { selector: string }).selector, (again as { items: null }).items], ["p", null]);
  assert.match(String(await pickField({ chain, text: "x" }, { items: ".other" }, page({}))), /not in any item/);
  const lonely = await pickField({ chain: [node("p"), node("body"), node("html")], text: "" }, { items: "" }, page({}));
  assert.match(String(lonely), /No list/);
});

test("rules come back as they were given", () => {
  const fields = {
    title: { css: "h1" },
    price: { css: ".p", attr: "content", regex: "(\\d+)", type: "number", required: true },
    tags: { xpath: "//a", all: true, default: [] },
    sku: { jsonpath: "$.sku", from: "json-ld" },
    id: { regex: "id=(\\d+)" },
    lang: { known: "language" },
  };
  assert.deepEqual(rulesToFields(rulesFromFields(fields)), fields);
  assert.deepEqual(rulesToFields(rulesFromFields(["title", "price"])), ["title", "price"]);
  assert.equal(rulesToFields(rulesFromFields(null)), null);
  assert.deepEqual(rulesToFields(rulesFromFields({ a: "h1" })), { a: { css: "h1" } });
  const rules = [
    newRule(1, { name: "a", text: "x" }),
    newRule(2, { name: "a", text: "x" }),
    newRule(3),
    newRule(4, { name: "b" }),
  ];
  assert.deepEqual([...ruleProblems(rules).keys()], [2, 3, 4]);
  assert.equal(freeName("a", rules), "a_2");
});

test("a job that is opened and saved again is the same job", () => {
  const page = {
    kind: "page",
    target_url: "https://a.example/",
    name: "A",
    tags: ["x", "y"],
    strategy: "browser",
    fields: { t: { css: "h1" } },
    items: { css: "li" },
    schema: { type: "object" },
    max_attempts: 4,
    timeout_seconds: 20,
    respect_robots: true,
    proxy: "pool",
    document: { formats: ["html", "screenshot"], only_main_content: false, include_tags: ["main", "nav"] },
    browser: {
      wait_for: ".x",
      block_resources: true,
      wait_ms: 500,
      mobile: true,
      actions: [
        { type: "wait", selector: ".a" },
        { type: "wait", milliseconds: 20 },
        { type: "click", selector: "#b", all: true },
        { type: "write", text: " c " },
        { type: "press", key: "Enter" },
        { type: "scroll", direction: "up", amount: 5, selector: ".d" },
        { type: "screenshot", full_page: true },
        { type: "scrape" },
      ],
    },
    session_id: "0197c000-0000-7000-8000-000000000001",
    schedule: "0 6 * * *",
    timezone: "Europe/Berlin",
  };
  assert.deepEqual(jobOrderOf(formOf(page)).body, page);
  const often = { ...page, schedule: { cron: "0 6 * * *", overlap: "queue", jitter_seconds: 5 } };
  assert.deepEqual(jobOrderOf(formOf(often)).body, often);
  const masked = jobOrderOf(formOf({ ...page, proxy: "http://***@p.example:1" }), { changes: true }).body;
  assert.ok(!("proxy" in masked), "a proxy whose password is hidden stays as it is");
  const crawl = {
    url: ["https://a.example/", "https://b.example/"],
    max_depth: 1,
    include: ["/a/**"],
    same_site: false,
    stay_within: "path",
    follow_links: false,
    delay_seconds: 2,
    document: { formats: [] },
    browser: { mobile: true },
  };
  assert.deepEqual(jobOrderOf(formOf({ kind: "crawl", crawl })).body, { kind: "crawl", crawl });
  const workflow = { template: "t", template_version: 2, params: { a: { b: 1 } } };
  assert.deepEqual(jobOrderOf(formOf({ kind: "workflow", workflow })).body, { kind: "workflow", workflow });
  const own = { definition: { name: "x", steps: [] }, params: { n: 1 } };
  assert.deepEqual(jobOrderOf(formOf({ kind: "workflow", workflow: own })).body, { kind: "workflow", workflow: own });
});

test("what was emptied in a job is said, so that it is emptied", () => {
  const form: Form = { ...EMPTY, kind: "scrape", url: "https://a.example/" };
  const { body } = jobOrderOf(form, { changes: true });
  assert.deepEqual([body["name"], body["fields"], body["schedule"], body["tags"]], [null, null, null, []]);
  assert.ok(!("headers" in body), "what is secret stays, unless others are given");
});

test("what is asked of the page as a whole and of a browser", () => {
  const form: Form = { ...EMPTY, kind: "scrape", url: "https://a.example/" };
  assert.deepEqual(withFormat(["markdown", "screenshot"], "screenshot_full", true), ["markdown", "screenshot_full"]);
  assert.deepEqual(withFormat(["links"], "markdown", true), ["markdown", "links"]);
  assert.deepEqual(withFormat(["links", "screenshot"], "screenshot_full", false), ["links", "screenshot"]);
  assert.deepEqual(orderOf({ ...form, asDocument: true }).body["document"], { formats: ["markdown"] });
  assert.equal(orderOf({ ...form, formats: ["html"] }).body["document"], undefined, "it was not asked for");
  assert.equal(orderOf({ ...form, waitFor: ".x" }).body["strategy"], "browser");
  assert.equal(orderOf({ ...form, kind: "crawl", waitFor: ".x" }).body["strategy"], undefined);
  const kept = { stay_within: "host", delay_seconds: "1.5", replay: {}, extract: { llm: {} } };
  const { body: crawl } = orderOf({ ...form, kind: "crawl", kept });
  assert.deepEqual([crawl["stay_within"], crawl["delay_seconds"], crawl["replay"]], ["host", 1.5, undefined]);
  const { body: page } = orderOf({ ...form, kept });
  assert.deepEqual([page["stay_within"], page["delay_seconds"], page["extract"]], [undefined, undefined, kept.extract]);
  assert.equal(browserReason(form), null);
  assert.equal(browserReason({ ...form, asDocument: true, formats: ["screenshot"] }), "Screenshot");
  const empty = orderOf({
    ...form,
    actions: [newAction(1), newAction(2, { kind: "scroll" }), newAction(3, { kind: "press" })],
  });
  assert.deepEqual(
    empty.problems.map(({ path }) => path),
    ["browser.actions[0]", "browser.actions[2]"],
  );
  // Every format and action that the server knows can be chosen.
  assert.deepEqual(
    FORMATS.map(({ value }) => value),
    DOCUMENT_FORMATS,
  );
  assert.deepEqual(
    [...new Set(ACTIONS.map(({ value }) => value.replace("wait_for", "wait")))].toSorted(),
    ACTION_TYPES.toSorted(),
  );
});

test("what cannot be sent is said at its field, and what the server says goes to its field", () => {
  const wrong = orderOf({ ...EMPTY, kind: "scrape", headers: "no colon\nX: y", schema: "{" });
  assert.deepEqual(wrong.problems.map(({ path }) => path).toSorted(), ["headers", "schema"]);
  const { fields, others } = problemsByField([
    { path: "crawl.max_depth", message: "expected 0 or more" },
    { path: "url[1]", message: "is no address" },
    { path: "fields.price.css", message: "is empty" },
    { path: "export_format", message: "is unknown" },
  ]);
  assert.deepEqual(fields, {
    depth: "Expected 0 or more.",
    url: "[1]: is no address",
    rules: "price.css: is empty",
  });
  assert.deepEqual(
    others.map(({ path }) => path),
    ["export_format"],
  );
  assert.equal(moreSet({ ...EMPTY, sitemap: true, headers: "X: y", proxy: "pool", cookies: "a=b" }), 3);
  const parts = problemsByField([
    { path: "crawl.browser.actions[1].selector", message: "expected a CSS selector" },
    { path: "browser.wait_ms", message: "expected a whole number" },
    { path: "document.include_tags[0]", message: "is no selector" },
    { path: "document.formats", message: "has both" },
    { path: "browser", message: "waits for too long" },
  ]);
  assert.deepEqual(parts.others, []);
  assert.deepEqual(parts.fields, {
    actions: "[1].selector: expected a CSS selector Waits for too long.",
    waitMs: "Expected a whole number.",
    includeTags: "[0]: is no selector",
    formats: "Has both.",
  });
});

test("a schema of params becomes fields, and what is typed becomes what it asks for", () => {
  const schema = {
    properties: {
      n: { type: "integer", default: 5 },
      crawl: {
        properties: { url: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] } },
        required: ["url"],
      },
      format: { enum: ["csv", null] },
      deep: { type: "object" },
    },
    required: ["crawl"],
  };
  const titled = fieldsOf({ properties: { min_width: { type: "integer", title: "Smallest width" }, max_px: {} } });
  assert.deepEqual(
    titled.map(({ label }) => label),
    ["Smallest width", "Max px"],
  );
  const fields = fieldsOf(schema);
  assert.deepEqual(
    fields.map(({ label, kind, required }) => [label, kind, required]),
    [
      ["Crawl: URL", "lines", true],
      ["N", "number", false],
      ["Format", "choice", false],
      ["Deep", "json", false],
    ],
  );
  const typed = ["https://a.example/\n", "7", "csv", '{"a": 1}'];
  const params = fields.reduce((before, field, n) => withParam(before, field, typed[n] ?? ""), {});
  assert.deepEqual(tidied(params), { crawl: { url: ["https://a.example/"] }, n: 7, format: "csv", deep: { a: 1 } });
  assert.equal(typedParam(params, fields[0]!), "https://a.example/\n");
  assert.deepEqual(withParam({ crawl: { url: ["x"] } }, fields[0]!, ""), {});
  const told = problemsByField([
    { path: "params.crawl.url[0]", message: "must be an address" },
    { path: "workflow.params.n", message: "must be at most 6" },
    { path: "params.other", message: "is not known" },
  ]);
  assert.deepEqual([told.fields, told.others], [{}, []]);
  const { byField, others } = problemsOfParams(fields, told.params);
  assert.deepEqual(
    [...byField].map(([{ label }, text]) => [label, text]),
    [
      ["Crawl: URL", "Must be an address."],
      ["N", "Must be at most 6."],
    ],
  );
  assert.deepEqual(others, ["Other: is not known"]);
  const missing = problemsOfParams(fields, [{ path: "crawl", message: "is required" }]);
  assert.deepEqual(
    [...missing.byField].map(([{ label }, text]) => [label, text]),
    [["Crawl: URL", "Is required."]],
    "of an object that is missing the field is told that it needs",
  );
  assert.equal(isChanged("crawl.url[0]", params, withParam(params, fields[0]!, "https://b.example/")), true);
  assert.equal(isChanged("n", params, withParam(params, fields[0]!, "https://b.example/")), false);
});

test("what was found is told in few words, and mistakes at their rule", () => {
  const found = { records: [{ a: "x" }, { a: null }, { a: ["y"] }], errors: [], warnings: [] };
  assert.deepEqual(describeFound("a", found), { values: ["x", '["y"]'], note: "in 2 of 3 records", problems: [] });
  const trouble = { record: 0, field: "b", message: "is missing", found: null };
  const none = describeFound("b", { records: [{}], errors: [trouble, trouble], warnings: [] });
  assert.deepEqual(none, { values: [], note: "Nothing found", problems: ["Is missing"] });
  const problems = problemsByRule(
    [
      { path: "fields.a.b.css", message: "is empty" },
      { path: "items", message: "is wrong" },
    ],
    ["a", "a.b"],
  );
  assert.deepEqual(
    [...problems],
    [
      ["a.b", "Is empty"],
      ["", "items: is wrong"],
    ],
  );
});

test("shares are written as lines, and what may be more than a text says so", () => {
  const [split, key, urls] = fieldsOf({
    properties: {
      split: {
        type: ["object", "null"],
        additionalProperties: { type: "number" },
        default: { train: 0.8, test: 0.2 },
      },
      key: { type: ["string", "array"], default: "url" },
      urls: { type: "array", items: { type: "string" }, default: ["a", "b"] },
    },
  });
  assert.ok(split !== undefined && key !== undefined && urls !== undefined);
  assert.deepEqual([split.kind, split.usual], ["pairs", "train: 0.8\ntest: 0.2"]);
  assert.deepEqual([key.kind, key.usual, urls.usual], ["names", "url", "a\nb"]);
  assert.deepEqual(withParam({}, key, "title"), { key: "title" });
  assert.deepEqual(withParam({}, key, '["title","url"]'), { key: ["title", "url"] });
  assert.deepEqual(withParam({}, key, "title\nurl"), { key: ["title", "url"] });
  assert.equal(typedParam({ key: ["title", "url"] }, key), "title\nurl");
  const typed = (text: string) => {
    const params = withParam({}, split, text);
    assert.equal(typedParam(params, split), text, "what is typed stays");
    return params["split"];
  };
  for (const text of ["tr", "train:", "train: 0.0", "train: 0.8\n", "train: 0.80"]) assert.equal(typed(text), text);
  assert.deepEqual(typed("train: 0.8\ntest: 0.2"), { train: 0.8, test: 0.2 });
  assert.equal(tidyPairs("train:0.80\n\ntest : 0.2\n"), "train: 0.8\ntest: 0.2");
});

test("a clone is called what its run was", () => {
  const page = formOf({ kind: "page", name: "Front page", target_url: "https://shop.example/" });
  assert.equal(orderOf(page).body["name"], "Front page");
  assert.equal(orderOf({ ...page, name: " " }).body["name"], undefined);
  const flow = formOf({ kind: "workflow", name: "Prices", workflow: { template: "price-monitor", params: {} } });
  assert.equal(orderOf(flow).body["name"], "Prices");
});

test("a draft keeps what was typed, and nothing that may be secret", () => {
  const form = { ...EMPTY, url: "https://shop.example/", depth: "3", headers: "Authorization: Bearer 4711" };
  assert.deepEqual(draftOf(form, EMPTY), {
    form: { kind: "crawl", url: "https://shop.example/", depth: "3" },
    dropped: true,
  });
  assert.equal(draftOf(EMPTY, EMPTY), null);
  assert.equal(draftOf({ ...EMPTY, kind: "workflow", template: "price-monitor" }, EMPTY), null, "nothing was typed");
  const secrets = [
    { cookies: "sid=4711" },
    { proxy: "http://me:4711@proxy.example:8080" },
    { url: "https://me:4711@shop.example/" },
    { actions: [newAction(1, { kind: "write", text: "4711" })] },
    { params: { api_key: "4711", nested: { password: "4711" }, list: [{ token: "4711" }] } },
    { params: { hook: "https://me:4711@hooks.example/" } },
    { definition: "steps:\n  - params:\n      headers: { x: 4711 }" },
    { definition: '{"steps": [{"params": {"Authorization": "4711"}}]}' },
  ];
  for (const more of secrets) {
    const draft = draftOf({ ...EMPTY, ...more }, EMPTY);
    assert.equal(draft?.dropped, true, JSON.stringify(more));
    assert.ok(!JSON.stringify(draft).includes("4711"), JSON.stringify(draft));
  }
  const plain = { ...EMPTY, definition: "steps: [{ name: author, task_type: export }]", params: { author: "me" } };
  assert.deepEqual(draftOf(plain, EMPTY), {
    form: { kind: "crawl", definition: plain.definition, params: plain.params },
    dropped: false,
  });
  assert.deepEqual(
    [readDraft(null), readDraft("{"), readDraft('{"form": 1}'), readDraft("[]")],
    [null, null, null, null],
  );
  assert.deepEqual(readDraft(JSON.stringify(draftOf(plain, EMPTY))), draftOf(plain, EMPTY));
});

test("a crawl that is cloned keeps its name", () => {
  const form = formOf({ kind: "crawl", name: "News", crawl: { url: "https://news.example/", retry_attempts: 1 } });
  const { body } = orderOf(form);
  assert.deepEqual([body["name"], body["max_attempts"]], ["News", 2]);
  const { body: job } = jobOrderOf(form);
  assert.deepEqual([job["name"], (job["crawl"] as Record<string, unknown>)["name"]], ["News", undefined]);
});

test("fields are chosen on the page as a run would get it: with its actions, headers and session", () => {
  const actions = [newAction(1, { kind: "scroll_to_end" })];
  const form: Form = { ...EMPTY, kind: "scrape", url: "https://a.example/", actions, headers: "X-A: b", session: "s1" };
  assert.deepEqual(previewOf({ ...form, cookies: "c=d", proxy: "pool" }), {
    strategy: "auto",
    browser: { actions: [{ type: "scroll_to_end" }] },
    headers: { "X-A": "b" },
    cookies: { c: "d" },
    session_id: "s1",
  });
  assert.deepEqual(previewOf({ ...EMPTY, kind: "crawl", strategy: "browser" }), { strategy: "browser" });
});

test("fields of a template are names, or names and selectors, one per line; only more takes JSON", () => {
  const schema = {
    properties: {
      fields: { type: ["array", "object"], default: ["title", "price"] },
      key: { type: ["string", "array"], default: "url" },
    },
  };
  const [fields, key] = fieldsOf(schema) as [ReturnType<typeof fieldsOf>[0], ReturnType<typeof fieldsOf>[0]];
  assert.deepEqual([fields.kind, fields.usual, key.kind, key.usual], ["rules", "title\nprice", "names", "url"]);
  const typed = (text: string) => withParam({}, fields, text)["fields"];
  assert.deepEqual(typed("title\nprice"), ["title", "price"]);
  assert.deepEqual(typed("title: h1\nprice: .price b"), { title: "h1", price: ".price b" });
  assert.deepEqual(typed('{"price": {"css": ".p", "type": "number"}}'), { price: { css: ".p", type: "number" } });
  assert.equal(typed("title: h1\nprice"), "title: h1\nprice", "kept as it is until it is whole");
  for (const text of ["title", "title\n", "title: h1", "title:", '{"a":{"css":"b"}}'])
    assert.equal(typedParam(withParam({}, fields, text), fields), text);
});
