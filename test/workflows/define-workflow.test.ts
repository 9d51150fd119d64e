import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { isOrbError } from "../../src/base/errors.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { isTrue, resolveParams } from "../../src/domain/workflow/expression.ts";
import { completeParams } from "../../src/domain/workflow/params-check.ts";
import { validateWorkflow } from "../../src/domain/workflow/validate.ts";
import { type BuiltInKind, kinds } from "../../src/workflows/built-in-kinds.ts";
import { defineStep } from "../../src/workflows/define-step.ts";
import { defineWorkflow } from "../../src/workflows/define-workflow.ts";
import { expression, pluck } from "../../src/workflows/reference.ts";
import { createStepKinds } from "../../src/workflows/registry.ts";
import { kindSettings } from "../support/kind-settings.ts";

const find = defineStep({
  kind: "find",
  params: Type.Object({ query: Type.String(), limit: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
  output: Type.Object({
    count: Type.Integer(),
    pages: Type.Array(Type.Object({ url: Type.String(), "file name": Type.String() })),
  }),
  run: (_context, { query }) => ({ count: query.length, pages: [] }),
});
const registered = createStepKinds(kindSettings, [
  { kind: find.kind, about: "", params: JSON.parse(JSON.stringify(find.params)) },
]);

const dataset = defineWorkflow(
  {
    name: "Dataset",
    params: Type.Object({ query: Type.String(), hook: Type.String({ default: "https://example.com/" }) }),
    max_recovery_attempts: 1,
  },
  (flow) => {
    const list = flow.step("find them", find, { query: flow.params.query, limit: 10 }, { estimated_duration: 5 });
    const files = flow.step("files", kinds.download, { urls: pluck(list.output.pages, "url") });
    const pause = flow.step("pause", kinds.wait, { seconds: expression<number>`${files.output.failed} * ${2}` });
    const each = flow.forEach(
      "each",
      kinds.scrape,
      list.output.pages,
      (page, index) => ({ url: page.url, fields: { name: page["file name"], number: index } }),
      { concurrency: 2, on_error: "continue", after: [pause] },
    );
    flow.forEach("all items", kinds.webhook, each.items, (item) => ({ url: flow.params.hook, body: item }));
    flow.step(
      "tell",
      kinds.webhook,
      {
        url: flow.params.hook,
        body: { text: `found ${list.output.count}, first ${list.output.pages[0]!["file name"]}` },
      },
      {
        after: [each],
        when: expression`${files.output.downloaded} > 0 && ${list.output.count} != ${'a "b"'}`,
        timeout: 60,
      },
    );
  },
);

test("a workflow that is written in TypeScript is a plain definition, with the dependencies that its references make", () => {
  assert.deepEqual(dataset, {
    name: "Dataset",
    params: {
      type: "object",
      properties: { query: { type: "string" }, hook: { type: "string", default: "https://example.com/" } },
      required: ["query", "hook"],
    },
    max_recovery_attempts: 1,
    steps: [
      {
        name: "find them",
        task_type: "find",
        params: { query: "${{ params.query }}", limit: 10 },
        estimated_duration: 5,
        dependencies: [],
      },
      {
        name: "files",
        task_type: "download",
        params: { urls: '${{ steps["find them"].output.pages[*].url }}' },
        dependencies: ["find them"],
      },
      {
        name: "pause",
        task_type: "wait",
        params: { seconds: "${{ steps.files.output.failed * 2 }}" },
        dependencies: ["files"],
      },
      {
        name: "each",
        task_type: "scrape",
        params: { url: "${{ item.url }}", fields: { name: '${{ item["file name"] }}', number: "${{ index }}" } },
        for_each: { in: '${{ steps["find them"].output.pages }}', concurrency: 2, on_error: "continue" },
        dependencies: ["pause", "find them"],
      },
      {
        name: "all items",
        task_type: "webhook",
        params: { url: "${{ params.hook }}", body: "${{ item }}" },
        for_each: { in: "${{ steps.each.items }}" },
        dependencies: ["each"],
      },
      {
        name: "tell",
        task_type: "webhook",
        params: {
          url: "${{ params.hook }}",
          body: {
            text: 'found ${{ steps["find them"].output.count }}, first ${{ steps["find them"].output.pages[0]["file name"] }}',
          },
        },
        timeout: 60,
        when: '${{ steps.files.output.downloaded > 0 && steps["find them"].output.count != "a \\"b\\"" }}',
        dependencies: ["each", "find them", "files"],
      },
    ],
  });
  assert.deepEqual(JSON.parse(JSON.stringify(dataset)), dataset);
});

test("it passes the check of the server, and its expressions give what was meant", () => {
  const { ok, errors } = validateWorkflow(dataset, registered);
  assert.equal(errors, undefined);
  const scope = {
    params: { query: "cats", hook: "https://example.com/" },
    steps: {
      "find them": {
        output: {
          count: 2,
          pages: [
            { url: "x", "file name": "x.jpg" },
            { url: "y", "file name": "y.jpg" },
          ],
        },
      },
      files: { output: { downloaded: 2, failed: 3 } },
    },
  };
  const params = (ok?.steps ?? []).slice(0, 3).map((step) => resolveParams(step.params, scope));
  assert.deepEqual(params, [{ query: "cats", limit: 10 }, { urls: ["x", "y"] }, { seconds: 6 }]);
  const last = ok?.steps[5];
  assert.deepEqual(resolveParams(last?.params ?? {}, scope)["body"], { text: "found 2, first x.jpg" });
  assert.equal(isTrue(last?.when ?? "", scope), true);
});

test("what types cannot see is reported when the workflow is written", () => {
  assert.throws(
    () =>
      defineWorkflow({ name: "bad" }, (flow) => {
        flow.step("a", find, { query: "x" });
        flow.step("a", find, { query: expression<string>`1 +` });
        flow.step("b", find, { query: "${{ steps.nobody.output.x }}" });
        flow.step("c", find, { query: "${{ steps.a.output.cuont }}" });
      }),
    (error: unknown) =>
      isOrbError(error, "input_invalid") &&
      assert.deepEqual(
        error.fields.map(({ path }) => path),
        [
          "steps[1].name",
          "steps[2].dependencies[0]",
          "steps[1].params.query",
          "steps[2].params.query",
          "steps[3].params.query",
        ],
      ) === undefined,
  );
});

/** Every param that the types of a kind know, with a value of its type. */
type AllParams = { [Name in keyof typeof kinds]: Required<ParamsOf<(typeof kinds)[Name]>> };
type ParamsOf<Kind> = Kind extends BuiltInKind<infer Params, infer _> ? Params : never;

const page = {
  fields: ["title"],
  items: null,
  schema: null,
  extract: null,
  respect_robots: true,
  accept_partial: false,
  document: {},
  browser: null,
};
const where = {
  url: "**",
  host: ["example.com"],
  folder: "a",
  content_type: "image/*",
  width: { min: 1 },
  height: { max: 2 },
  bytes: { min: 1, max: 2 },
  fields: { price: { min: 1 } },
};
/** Those of images and those of files. */
const rules = {
  kind: "image" as const,
  min_bytes: 1,
  max_bytes: 2,
  strict_extension: true,
  min_width: 1,
  max_width: 2,
  min_height: 1,
  max_height: 2,
  min_aspect: 0.5,
  max_aspect: 2,
  formats: ["png"],
  allow_animated: true,
  allow_blank: true,
  allow_damaged: true,
  content_types: ["image/*"],
  sha256: ["0".repeat(64)],
};
const EXAMPLES: AllParams = {
  wait: { seconds: 1, until: "2027-01-31T06:00:00Z" },
  webhook: { url: "https://example.com/", method: "PUT", headers: { a: "b" }, body: null },
  scrape: {
    ...page,
    url: "https://example.com/",
    urls: ["https://example.com/"],
    field: "url",
    strategy: "auto",
    requires_auth: false,
    session_id: null,
    max_attempts: 1,
    escalate: true,
    documents: true,
    timeout_seconds: 1,
    replay: null,
    proxy: "pool",
    headers: { a: "b" },
  },
  crawl: {
    ...page,
    headers: { a: "b" },
    session_id: null,
    url: ["https://example.com/"],
    max_depth: 1,
    max_pages: 1,
    timeout_minutes: 1,
    max_concurrent_articles: 1,
    retry_attempts: 1,
    max_attempts: 2,
    partial_results_ok: true,
    include: ["/a/**"],
    exclude: [],
    follow: ["/page/*"],
    read: [],
    same_site: true,
    stay_within: "host",
    goal: "repairing bicycles",
    stop_when_saturated: true,
    follow_links: true,
    documents: true,
    delay_seconds: 0,
    use_sitemap: true,
    strategy: "http",
    article: null,
    flat: true,
    max_failed_share: 0.1,
    proxy: "http://user:password@proxy.example:8080",
  },
  download: { urls: ["https://example.com/"], field: "url", max_failed_ratio: 0.5, proxy: null },
  label: {
    label: "x",
    rules: [{ label: "y", ...where }],
    from: "host",
    endpoint: { url: "https://example.com/" },
    drop_unlabelled: true,
  },
  export: {
    format: "csv",
    images: true,
    archive: "tar.gz",
    split: { train: 1 },
    seed: 1,
    stratify: true,
    fields: { a: "b" },
    where,
    unique: "url",
    name: "x",
    card: {
      description: "x",
      license: "CC0-1.0",
      url: "https://x.example/",
      creator: "x",
      citation: "x",
      version: "1",
      published: "2026-11-18",
    },
  },
  compare: { key: ["url"], fields: ["price"] },
  validate: rules,
  deduplicate: {
    distance: 4,
    keep: "first",
    text: "text",
    method: "minhash",
    threshold: 0.8,
    shingle: 5,
    date: "published_at",
  },
  filter: {
    text: "text",
    presets: ["gopher", "fineweb"],
    languages: ["en", "pt-BR"],
    language: null,
    where,
    expressions: { recent: "item.year >= 2020" },
    min_words: 1,
    max_words: 1,
    min_characters: 1,
    max_characters: 1,
    min_mean_word_length: 1,
    max_mean_word_length: 1,
    max_symbol_ratio: 1,
    min_alphabetic_words: 1,
    max_bullet_lines: 1,
    max_ellipsis_lines: 1,
    min_punctuated_lines: 1,
    max_short_lines: 1,
    max_line_breaks: 1,
    max_duplicate_lines: 1,
    max_duplicate_line_characters: 1,
    max_duplicate_paragraphs: 1,
    max_duplicate_paragraph_characters: 1,
    max_top_2_gram: 1,
    max_top_3_gram: 1,
    max_top_4_gram: 1,
    max_duplicate_5_grams: 1,
    max_duplicate_6_grams: 1,
    max_duplicate_7_grams: 1,
    max_duplicate_8_grams: 1,
    max_duplicate_9_grams: 1,
    max_duplicate_10_grams: 1,
  },
  archive: { min_bytes: 1_000_000, older_than_days: 30 },
  restore: {},
  cleanup: { steps: ["a"], keep: "nothing" },
};

test("the types of the kinds that are built in know the params that their schemas know", () => {
  const known = registered.all().map(({ kind }) => kind);
  assert.deepEqual([...Object.keys(kinds), find.kind].toSorted(), known.toSorted());
  for (const [name, { kind }] of Object.entries(kinds)) {
    assert.equal(kind, name);
    const schema = registered.find(kind)?.params as { properties: Record<string, JsonValue> };
    const example = EXAMPLES[name as keyof typeof EXAMPLES] as Record<string, JsonValue>;
    assert.deepEqual(Object.keys(example).toSorted(), Object.keys(schema.properties).toSorted(), name);
    // Some exclude each other, so that each is looked at for itself.
    const alone = { type: "object", properties: schema.properties, additionalProperties: false };
    assert.deepEqual(completeParams(alone, example).errors, undefined, name);
  }
});

/** Never called: it is enough that the types are checked. */
export function typesAreChecked(): void {
  defineWorkflow({ name: "types", params: Type.Object({ query: Type.String() }) }, (flow) => {
    const list = flow.step("list", find, { query: "x" });
    // @ts-expect-error a param is missing
    flow.step("a", find, {});
    // @ts-expect-error a param of the wrong type
    flow.step("b", find, { query: 1 });
    // @ts-expect-error a param that the kind does not have
    flow.step("c", find, { query: "x", limti: 1 });
    // @ts-expect-error a reference of the wrong type
    flow.step("d", find, { query: list.output.count });
    // @ts-expect-error an output that is not there
    flow.step("e", find, { query: list.output.cuont });
    // @ts-expect-error a workflow's param that is not there
    flow.step("f", find, { query: flow.params.qury });
    // @ts-expect-error a list where each entry is meant
    flow.step("g", find, { query: pluck(list.output.pages, "url") });
    // @ts-expect-error a key that the entries do not have
    pluck(list.output.pages, "address");
    // @ts-expect-error items are no list
    flow.step("h", kinds.download, { urls: list.items });
    // @ts-expect-error a condition that is not true or false
    flow.step("i", find, { query: "x" }, { when: list.output.count });
    // @ts-expect-error an unknown way to go on
    flow.forEach("j", find, ["a"], (query) => ({ query }), { on_error: "ignore" });
    // @ts-expect-error a method that webhooks do not have
    flow.step("k", kinds.webhook, { url: "x", method: "HEAD" });
    flow.forEach("l", find, ["a"], (query, index) => ({ query, limit: index }));
    flow.step("m", kinds.crawl, { url: ["a", flow.params.query], max_depth: list.output.count });
  });
}
