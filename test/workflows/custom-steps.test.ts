import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Type } from "typebox";
import { isOrbError } from "../../src/base/errors.ts";
import { defineStep, skip } from "../../src/workflows/define-step.ts";
import { Target } from "../chaos/target.ts";
import { failureOf } from "../support/net.ts";
import { CustomStepHarness, IMPORTS } from "./custom-kit.ts";

const MODULE = `${IMPORTS}
const nothing = { type: "object", additionalProperties: false } as const;

const double = defineStep({
  kind: "double",
  about: "doubles a number",
  params: Type.Object({ n: Type.Number() }, { additionalProperties: false }),
  output: Type.Object({ twice: Type.Number() }),
  run: (_, { n }) => ({ twice: n === 13 ? "unlucky" as never : n * 2 }),
});

const whoami = defineStep({
  kind: "whoami",
  params: nothing,
  run: ({ run, step, attempt, item }) => ({ run, step, attempt, item, env: Object.keys(process.env) }),
});

const keep = defineStep({
  kind: "keep",
  params: Type.Object({ even: Type.Boolean(), from: Type.Optional(Type.String()) }),
  async run(context, { even, from }) {
    const output = { kept: 0, seen: 0 };
    async function* chosen() {
      for await (const item of context.items(from)) {
        output.seen += 1;
        if ((Number(item.n) % 2 === 0) !== even) continue;
        output.kept += 1;
        yield { ...item, kept: true };
      }
    }
    return { output, items: chosen() };
  },
});

const files = defineStep({
  kind: "files",
  params: Type.Object({ url: Type.String() }),
  async run(context, { url }) {
    const page = await context.fetch(url + "/page", { method: "POST", headers: { "x-from": "a step" }, body: "hello" });
    const got = await context.download(url + "/dir/picture.png?size=2");
    const text = await context.save("made of " + new TextDecoder().decode(await context.read(got.hash)), { name: "made.txt" });
    await context.save(new Uint8Array([1, 2, 3]), { name: "bytes", content_type: "application/x-bytes" });
    return { output: { status: page.status, body: new TextDecoder().decode(page.body) }, items: [got, text] };
  },
});

const first = defineStep({
  kind: "first",
  params: nothing,
  async run(context) {
    for await (const item of context.items()) return { first: item };
  },
});

const talks = defineStep({
  kind: "talks",
  params: nothing,
  run(context) {
    for (let n = 1; n <= 5000; n += 1) {
      context.log.info("line " + n);
      context.progress(n, 5000, "at " + n);
    }
  },
});

const leaves = defineStep({
  kind: "leaves",
  params: Type.Object({ running: Type.Boolean() }),
  run(context, { running }) {
    const timer = setInterval(() => {
      context.progress(9, 10, "too late");
      context.log.info("too late");
      void context.save("too late");
    }, 1);
    if (!running) timer.unref();
    return { pid: process.pid };
  },
});

const patient = defineStep({
  kind: "patient",
  params: nothing,
  run: async () => ({ pid: await new Promise((resolve) => setTimeout(resolve, 100, process.pid)) }),
});

const polite = defineStep({
  kind: "polite",
  params: nothing,
  async run(context) {
    context.log.info("polite process " + process.pid);
    await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    await context.save("not wanted").catch((error) => context.log.info("told: " + error.message));
  },
});

export const steps = [
  double, whoami, keep, files, first, talks, leaves, patient, polite,
  defineStep({ kind: "not-today", params: nothing, run: () => skip("nothing to do") }),
  defineStep({ kind: "missing", params: Type.Object({ url: Type.String() }), run: async (context, { url }) => ({ file: await context.download(url) }) }),
];
`;

const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n, padding: "p".repeat(400) }));

/** A process that a busy machine gives no processor for a second is ended, too: it is seen in one of some tries. */
async function soonerOrLater(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) if (await isSo()) return;
  assert.fail(what);
}

describe("step kinds of a user's module", () => {
  let harness: CustomStepHarness;
  before(async () => void (harness = await CustomStepHarness.open(MODULE)));
  after(() => harness[Symbol.asyncDispose]());

  test("are known by name with their schemas, and give typed outputs", async () => {
    assert.deepEqual(
      harness.kinds.map(({ kind }) => kind),
      ["double", "files", "first", "keep", "leaves", "missing", "not-today", "patient", "polite", "talks", "whoami"],
    );
    assert.deepEqual(harness.kind("double").params, {
      type: "object",
      required: ["n"],
      properties: { n: { type: "number" } },
      additionalProperties: false,
    });
    assert.equal(harness.kind("double").about, "doubles a number");
    assert.deepEqual((await harness.done(harness.kind("double"), { n: 21 })).output, { twice: 42 });
    const wrong = await failureOf(harness.run(harness.kind("double"), { n: 13 }));
    assert.deepEqual(
      [wrong.reason, wrong.message],
      ["handler_bad_result", "the output's /twice must be number"],
      "what the output's schema promises is kept",
    );
    const { output } = await harness.done(harness.kind("whoami"), {});
    assert.deepEqual(output, {
      run: { id: "8f6f2f38-4d7c-4a57-8a6e-1f1ad3ba7c01", name: "a workflow", job_id: null },
      step: { name: "step", index: 1 },
      attempt: 1,
      env: [],
    });
    assert.deepEqual(await harness.run(harness.kind("not-today"), {}), { kind: "skip", why: "nothing to do" });
  });

  test("go through inputs and give items in pieces, and their output may count them", async () => {
    // Some two megabytes: several parts each way.
    const inputs = numbers(5000);
    const { output, items } = await harness.done(harness.kind("keep"), { even: true }, { inputs });
    assert.deepEqual(output, { seen: 5000, kept: 2500 });
    assert.deepEqual(items[1], { ...inputs[2], kept: true });
    assert.equal(items.length, 2500);
    const named = { itemsOf: { earlier: numbers(3) } };
    assert.deepEqual((await harness.done(harness.kind("keep"), { even: false, from: "earlier" }, named)).output, {
      seen: 3,
      kept: 1,
    });
    assert.deepEqual((await harness.done(harness.kind("first"), {}, { inputs })).output, { first: inputs[0] });
    assert.deepEqual((await harness.done(harness.kind("first"), {})).output, {});
  });

  test("whose items nobody wants any more are ended, and the next one begins with a fresh process", async () => {
    const end = await harness.kind("keep").run(harness.context({ inputs: numbers(5000) }), { even: true });
    assert.ok(end.kind === "done" && end.items !== undefined);
    for await (const item of end.items) {
      assert.equal(item["n"], 0);
      break;
    }
    assert.deepEqual((await harness.done(harness.kind("double"), { n: 1 })).output, { twice: 2 });
  });

  test("fetch, download, save and read through the guard, and their files are the step's", async () => {
    await using target = await Target.start(1);
    const asked: unknown[] = [];
    target.script = (path, _nth, request) => {
      if (path === "/missing") return { status: 404, body: "no" };
      if (path === "/page") asked.push(request.method, request.headers["x-from"]);
      return path === "/page" ? { status: 202, body: "page" } : { body: "picture" };
    };
    const { output, items, files } = await harness.done(harness.kind("files"), { url: target.url("") });
    assert.deepEqual(asked, ["POST", "a step"]);
    assert.deepEqual(output, { status: 202, body: "page" });
    assert.deepEqual(
      items.map(({ name, bytes }) => [name, bytes]),
      [
        ["picture.png", 7],
        ["made.txt", 15],
      ],
    );
    assert.equal(String(await harness.read(items[1]?.hash ?? "")), "made of picture");
    assert.deepEqual(
      files.map(({ hash, size, contentType }) => [hash === items[0]?.hash, size, contentType]),
      [
        [true, 7, "text/plain"],
        [false, 15, "text/plain; charset=utf-8"],
        [false, 3, "application/x-bytes"],
      ],
    );
    const refused = await failureOf(harness.run(harness.kind("missing"), { url: target.url("/missing") }));
    assert.equal(refused.reason, "http_not_found", "what breaks on the way is the step's reason");
    const outside = await failureOf(harness.run(harness.kind("missing"), { url: "file:///etc/passwd" }));
    assert.equal(outside.code, "forbidden_target");
  });

  test("speak for themselves alone: what one left running says nothing in the name of the next", async () => {
    const pidAfter = async (running: boolean) => {
      const left = await harness.done(harness.kind("leaves"), { running });
      const next = await harness.done(harness.kind("patient"), {});
      assert.deepEqual([left.files, next.files], [[], []]);
      return [left.output["pid"], next.output["pid"]];
    };
    await soonerOrLater("what does not keep a process busy does not end it", async () => {
      const [idle, used] = await pidAfter(false);
      return used === idle;
    });
    const [busy, fresh] = await pidAfter(true);
    assert.notEqual(fresh, busy, "a process in which something goes on is not used again");
    assert.ok(!harness.progress.some(({ message }) => message === "too late"));
    assert.ok(!harness.log.some((line) => line.includes("too late")));
  });

  test("are told to stop, and may end by themselves", async () => {
    await soonerOrLater("it ends by itself, and its process is used again", async () => {
      harness.log.length = 0;
      const controller = new AbortController();
      const stopped = failureOf(harness.run(harness.kind("polite"), {}, { signal: controller.signal }));
      await harness.said("polite process ");
      controller.abort();
      assert.equal((await stopped).reason, "run_cancelled");
      const { output } = await harness.done(harness.kind("patient"), {});
      const said = harness.log.join("");
      return said.includes("told: stopped") && said.includes(`polite process ${String(output["pid"])}`);
    });
  });

  test("say how far they are; floods of words are cut, and the last word counts", async () => {
    await harness.done(harness.kind("talks"), {});
    const lines = harness.log.filter((line) => line.includes('"message":"line '));
    assert.equal(lines.length, 200);
    assert.match(lines[0] ?? "", /"kind":"talks"/);
    assert.ok(harness.progress.length < 100, `${harness.progress.length} times`);
    assert.deepEqual(harness.progress.at(-1), { done: 5000, total: 5000, message: "at 5000" });
  });
});

describe("a module with mistakes in its step kinds is refused with a sentence", () => {
  const step = (text: string) => `export const steps = [{ kind: "a", params: { type: "object" }, run() {}, ${text} }];`;
  const cases: Record<string, [string, RegExp]> = {
    "nothing to register": [
      "export const other = 1;",
      /must export "handlers", .* "steps", a list of step kinds, or "extractors", a list of them$/,
    ],
    "no list": ["export const steps = {};", /"steps" must be a list of step kinds/],
    "a bad name": [step('kind: "a b"'), /steps\[0\]\.kind must be a name/],
    "no function": [step("run: 3"), /steps\.a has no function "run"/],
    "no params": [step("params: undefined"), /steps\.a\.params must be the JSON Schema of its params/],
    "params that are no object": [
      step('params: { type: "string" }'),
      /steps\.a\.params must be the JSON Schema of an object/,
    ],
    "a bad schema": [
      step('params: { type: "object", properties: { n: { type: "numbr" } } }'),
      /steps\.a\.params: is not a JSON Schema: .*\/properties\/n\/type/,
    ],
    "a reference elsewhere": [
      step('output: { type: "object", properties: { n: { $ref: "http://a.test/" } } }'),
      /steps\.a\.output\.properties\.n\.\$ref: must point into this schema/,
    ],
    "a bad time limit": [step("timeout: -1"), /steps\.a\.timeout must be a number of seconds above 0/],
    "two of one name": [
      'const a = { kind: "a", params: { type: "object" }, run() {} }; export const steps = [a, { ...a }];',
      /steps\[1\]\.kind: another step kind is named a/,
    ],
  };
  for (const [name, [module, message]] of Object.entries(cases)) {
    test(name, async () => {
      await assert.rejects(CustomStepHarness.open(module), (error) => {
        assert.ok(isOrbError(error, "handlers_invalid"));
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

test("params and outputs have the types of their schemas", () => {
  const params = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
  const counts = Type.Object({ count: Type.Number() });
  const good = defineStep({
    kind: "good",
    params,
    output: counts,
    run: (context, { n }) => (n > 2 ? skip("enough") : { output: { count: n }, items: context.items() }),
  });
  const kind: "good" = good.kind;
  assert.equal(kind, "good");
  // @ts-expect-error: the output has a number
  defineStep({ kind: "bad", params, output: counts, run: () => ({ count: "one" }) });
  // @ts-expect-error: there is no such param
  defineStep({ kind: "bad", params, run: (_, { m }) => ({ m }) });
});
