import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { WorkflowProgress } from "../../src/orchestrator/workflows/progress.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { TemplateView } from "../../src/orchestrator/workflows/templates.ts";
import type { WorkflowDetail, WorkflowView } from "../../src/orchestrator/workflows/view.ts";
import { Orb } from "../chaos/orb.ts";
import { Target } from "../chaos/target.ts";
import { Installation } from "./installation.ts";
import type { Said } from "./here.ts";
import { hasScript, onTerminal } from "./screen.ts";

/** Two branches and what comes of both. */
const flow = (site: Target) => `name: Two branches
params:
  type: object
  properties:
    names: { type: array, items: { type: string }, default: [a, b] }
    hook: { type: string, default: "${site.url("/hook")}" }
steps:
  - name: pages
    task_type: download
    for_each: { in: "\${{ params.names }}", concurrency: 2, on_error: continue }
    params: { urls: ["${site.url("/page/")}\${{ item }}"] }
    max_retries: 0
  - name: tell
    task_type: webhook
    params: { url: "\${{ params.hook }}" }
    max_retries: 0
  - name: table
    task_type: export
    params: { format: csv, fields: { name: name } }
    dependencies: [pages, tell]
`;

async function openSite(): Promise<Target> {
  const site = await Target.start(1);
  site.script = (path) => {
    if (path === "/hook") return { body: "{}" };
    return path.startsWith("/page/") ? { body: `this is ${path}` } : { status: 404, body: "no" };
  };
  return site;
}

const idIn = ({ stdout, stderr }: Said) => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(stdout + stderr)?.[0] ?? "";
const waits = (seconds: number, more = "") =>
  `name: Waits\nsteps:\n  - { name: w, task_type: wait, params: { seconds: ${seconds} }${more} }\n`;

describe("orb workflows", { concurrency: 2 }, () => {
  test("a step whose run waits because its site is paused says so, once, and show does [slow]", async () => {
    await using site = await openSite();
    await using installation = new Installation();
    const [name = ""] = site.sites;
    assert.equal((await installation.run(["sites", "pause", name])).code, 0);
    const read = `{ name: read, task_type: scrape, params: { url: "${site.url("/page/a")}", fields: { title: h1 } } }`;
    const file = installation.file("held.yaml", `name: Held\nsteps:\n  - ${read}\n`);
    const started = installation.start(["workflows", "run", file]);
    const waits = `read: waits: ${name}: Site paused: resume it to continue`;
    await started.said(waits);
    const id = idIn(await installation.run(["workflows", "list"]));
    const shown = await installation.run(["workflows", "show", id]);
    assert.ok(shown.stdout.includes(`${name}: Site paused: resume it to continue`), shown.stdout);
    assert.equal((await installation.run(["sites", "resume", name])).code, 0);
    await started.ended;
    assert.equal(started.stderr.split(waits).length, 2, started.stderr);
  });

  test("run does the work and tells every step; what came of it is listed, shown, read and written to files", async () => {
    await using site = await openSite();
    await using installation = Installation.prepared();
    const file = installation.file("flow.yaml", flow(site));
    const ran = await installation.run([
      "workflows",
      "run",
      file,
      "--param",
      "names=x",
      "--param",
      "names=7",
      "--name",
      "Mine",
    ]);
    assert.equal(ran.code, 0, ran.stderr);
    const id = idIn(ran);
    assert.equal(ran.stdout, `${id} completed\n`);
    assert.match(ran.stderr, /^pages: completed after [\d.]+ s: 2 of 2 entries done$/m);
    assert.match(ran.stderr, /^tell: completed after [\d.]+ s: status 200$/m);
    assert.match(ran.stderr, new RegExp(`3 files: orb workflows files ${id}\n$`));

    const shown = await installation.run(["workflows", "show", id]);
    assert.match(shown.stdout, /^name +Mine$/m);
    assert.match(shown.stdout, /^params +\{"names":\["x","7"\],"hook":/m);
    assert.match(shown.stdout, /\n├─ ✓ pages {2}download .*\n└─ ✓ tell {3}webhook  .*\n✓ table {5}export   .*count 2/);
    const tasks = await installation.run(["workflows", "tasks", id, "--status", "completed"]);
    assert.match(tasks.stdout, /^step +status +kind +attempts +took +items +result\npages +completed +download/);
    const items = await installation.run(["workflows", "items", id, "pages"]);
    assert.deepEqual(
      items.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { name: string }).name),
      ["x", "7"],
    );
    const entries = await installation.run(["workflows", "entries", id, "pages", "--limit", "1"]);
    assert.match(entries.stdout, /^index +status .*\n +0 +completed +1 +downloaded 1, failed 0 +x\n$/);
    const out = join(installation.dir, "made", "here");
    const files = await installation.run(["workflows", "files", id, "table", "--out", out]);
    assert.match(
      files.stdout,
      /^step .*\ntable +\d+ bytes +text\/csv; charset=utf-8 +\S+mine\.csv +mine\.csv\ntable .*mine\.croissant\.json\ntable .*mine\.card\.md\n$/,
    );
    assert.deepEqual(readFileSync(join(out, "mine.csv"), "utf8").split("\r\n").slice(1, 3), [
      `${site.url("/page/x")},x`,
      `${site.url("/page/7")},7`,
    ]);
    const [listed] = await installation.json<WorkflowView[]>(
      "workflows",
      "list",
      "--status",
      "completed",
      "--search",
      "Mine",
    );
    assert.equal(listed?.id, id);

    const again = await installation.json<WorkflowProgress>("workflows", "rerun", id, "--param", "names=z", "--wait");
    assert.deepEqual([again.status, again.steps[0]?.entries?.total], ["completed", 1]);
    assert.equal((await installation.json<WorkflowDetail>("workflows", "show", again.workflow_id)).rerun_of, id);
  });

  test("one that failed says why and how to go on; recover does what is left, from a step if it is said [slow]", async () => {
    await using site = await openSite();
    await using installation = new Installation();
    const file = installation.file("flow.yaml", flow(site));
    const failed = await installation.run(["workflows", "run", file, "--param", `hook=${site.url("/gone")}`]);
    assert.equal(failed.code, 1, failed.stderr);
    const id = idIn(failed);
    assert.equal(failed.stdout, `${id} failed\n`);
    assert.match(failed.stderr, /^tell: failed: the webhook was rejected: .*404/m);
    assert.match(failed.stderr, /^table: skipped: step tell failed$/m);
    assert.match(failed.stderr, /^failed: tell: .* \(http_not_found\)$/m);
    assert.match(failed.stderr, new RegExp(`orb workflows recover ${id} --wait .*\\(3 recoveries left\\)\n$`));
    assert.equal((await installation.json<WorkflowView[]>("workflows", "list", "--status", "recoverable"))[0]?.id, id);
    const list = await installation.run(["workflows", "list"]);
    assert.match(list.stdout, new RegExp(`^${id} +failed +\\d\\d? % +3 `, "m"), "it does not look finished");
    const [tell] = await installation.json<WorkflowTaskView[]>("workflows", "tasks", id, "--status", "failed");
    assert.equal(tell?.failure_reason, "http_not_found");

    const wrong = await installation.run(["workflows", "recover", id, "--from", "tel"]);
    assert.deepEqual([wrong.code, /did you mean "tell"/.test(wrong.stderr)], [2, true], wrong.stderr);
    const pages = site.hits.filter(({ path }) => path.startsWith("/page/")).length;
    const script = site.script;
    site.script = (path, nth, request) => (path === "/gone" ? { body: "{}" } : script(path, nth, request));
    const mended = await installation.run(["workflows", "recover", id, "--from", "tell", "--wait"]);
    assert.equal(mended.code, 0, mended.stderr);
    assert.match(
      mended.stderr,
      /^completed earlier: pages\ntell: started\ntell: completed [^\n]*\ntable: started\ntable: completed/,
    );
    assert.equal(site.hits.filter(({ path }) => path.startsWith("/page/")).length, pages, "no page is got again");
    const late = await installation.run(["workflows", "recover", id]);
    assert.equal(late.code, 1);
    assert.match(late.stderr, /a workflow that is completed cannot be recovered\n.*orb workflows rerun ID/);
  });

  test("one that is wrong in itself is not offered a recovery, which would end the same way [slow]", async () => {
    await using site = await openSite();
    await using installation = new Installation();
    const steps = [
      { name: "tell", task_type: "webhook", params: { url: site.url("/hook") } },
      { name: "w", task_type: "wait", params: { until: "in ${{ steps.tell.output.status }} days" }, dependencies: [0] },
    ];
    const file = installation.file("late.json", JSON.stringify({ name: "Late", steps }));
    const failed = await installation.run(["workflows", "run", file]);
    assert.equal(failed.code, 1, failed.stderr);
    assert.match(failed.stderr, /^failed: w: .* \(step_params\)$/m);
    const rerun = `orb workflows rerun ${idIn(failed)} --param NAME=VALUE --wait`;
    assert.match(failed.stderr, new RegExp(`correct the definition and run it again.*\n {2}${rerun}\n$`));
    assert.doesNotMatch(failed.stderr, /workflows recover/);
  });

  test("Ctrl-C pauses it, and the command that it prints goes on with it; watching it stops nothing [slow]", async () => {
    await using site = await openSite();
    await using installation = new Installation();
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
    site.script = async () => {
      await isOpen;
      return { body: "{}" };
    };
    const steps = ["hold", "after"].map((name, index) => ({
      name,
      task_type: "webhook",
      params: { url: site.url(`/${name}`) },
      dependencies: index === 0 ? [] : [0],
    }));
    const file = installation.file("held.json", JSON.stringify({ name: "Held", steps }));
    let presses = 0;
    const stopped = await installation.run(["workflows", "run", file], {
      said: (text, interrupt) => {
        if (text.endsWith("hold: started\n") && presses++ === 0) interrupt();
        else if (text.includes("stopping")) open();
      },
    });
    assert.equal(stopped.code, 3, stopped.stderr);
    const id = idIn(stopped);
    const goesOn = new RegExp(`to continue:\n {2}orb workflows resume ${id} --wait\n`, "g");
    assert.equal(stopped.stderr.match(goesOn)?.length, 2, "it is said at once, and again at the end");
    assert.match(
      stopped.stderr,
      /^stopping: the workflow is paused; waiting up to 5 s for hold to finish; press Ctrl-C/m,
    );
    assert.match(stopped.stderr, /hold: completed .*\nstopped, the workflow is paused; to continue:\n.*\n$/);

    const watched = await installation.run(["workflows", "watch", id], {
      said: (text, interrupt) => void (text.endsWith("completed earlier: hold\n") && interrupt()),
    });
    assert.equal(watched.code, 130, watched.stderr);
    assert.match(watched.stderr, /^the workflow is paused; continue it with: orb workflows resume/);
    assert.match(watched.stderr, /stopped watching; the workflow is not stopped\n$/);

    const resumed = await installation.json<WorkflowProgress>("workflows", "resume", id, "--wait");
    assert.deepEqual([resumed.workflow_id, resumed.status], [id, "completed"]);
    assert.deepEqual(
      site.hits.map(({ path }) => path),
      ["/hold", "/after"],
    );
  });

  test("created ones wait until they are started; they are paused, resumed and cancelled, and wrong moves are told [slow]", async () => {
    await using installation = new Installation();
    const input = waits(3600);
    const made = await installation.run(["workflows", "create", "-"], { input });
    assert.equal(made.code, 0, made.stderr);
    const id = idIn(made);
    assert.equal(made.stdout, `${id} pending\n`);
    assert.match(made.stderr, new RegExp(`orb workflows start ${id} starts it`));
    const early = await installation.run(["workflows", "pause", id]);
    assert.match(early.stderr, /a workflow that is pending cannot be paused/);
    for (const [action, status] of [
      ["start", "running"],
      ["pause", "paused"],
      ["resume", "running"],
      ["cancel", "cancelled"],
    ] as const) {
      const { code, stdout, stderr } = await installation.run(["workflows", action, id]);
      assert.deepEqual([code, stdout], [0, `${id} ${status}\n`], stderr);
      if (action === "start") assert.match(stderr, /no worker is running on this database; start orb worker/);
    }
    const ended = await installation.run(["workflows", "watch", id]);
    assert.deepEqual([ended.code, ended.stdout], [1, `${id} cancelled\n`]);
    const detached = await installation.run(["workflows", "run", "-", "--detach"], { input: waits(0) });
    assert.deepEqual([detached.code, detached.stdout], [0, `${idIn(detached)} running\n`]);
    const live = await installation.run(["workflows", "delete", idIn(detached)]);
    assert.match(
      live.stderr,
      /a workflow that is running cannot be deleted[^]*Cancel it first, or delete it with force/,
    );
    const forced = await installation.run(["workflows", "delete", idIn(detached), "--force"]);
    assert.deepEqual([forced.code, forced.stdout], [0, `deleted ${idIn(detached)}\n`], forced.stderr);
    assert.deepEqual(await installation.json("workflows", "delete", id), { deleted: id });
    assert.equal((await installation.run(["workflows", "list"])).stdout, "no workflows\n");
  });

  test("what is wrong with a file is told by its line and column, all at once [slow]", async () => {
    await using installation = new Installation();
    const bad =
      "name: Bad\nsteps:\n  - name: a\n    task_type: wiat\n  - name: b\n    task_type: wait\n    dependencies: [nobody]\n    params: { seconds: -1 }\n";
    const file = installation.file("bad.yaml", bad);
    const told = `${file}:4:16: steps[0].task_type: unknown step kind "wiat", did you mean "wait"?
${file}:7:20: steps[1].dependencies[0]: there is no step "nobody"
${file}:8:24: steps[1].params.seconds: must be at least 0
`;
    const checked = await installation.run(["workflows", "validate", file]);
    assert.deepEqual([checked.code, checked.stdout], [2, told], checked.stderr);
    const json = await installation.run(["workflows", "validate", file, "--json"]);
    const { valid, errors } = JSON.parse(json.stdout) as { valid: boolean; errors: { line: number; column: number }[] };
    assert.deepEqual([valid, errors[1]?.line, errors[1]?.column], [false, 7, 20]);
    const refused = await installation.run(["workflows", "run", file]);
    assert.equal(refused.code, 2);
    assert.equal(refused.stderr, `error: 3 errors:\n${told.replace(/^/gm, "  ").trimEnd()}\n`);
    const cases: [string[], RegExp, string?][] = [
      [["run", "-"], /standard input:3:1: .*not valid YAML or JSON/, "name: x\nsteps: [\n"],
      [["run", "nowhere.yaml"], /cannot read nowhere\.yaml: there is no such file/],
      [["run", "image-datset"], /there is no file or template named image-datset\nDid you mean image-dataset\?/],
      [["run", "article-dataset"], /params\.crawl[\s\S]*orb workflows templates show article-dataset shows its params/],
      [["run", "-", "--param", "a=1"], /params\.a: the definition declares no params/, waits(0)],
      [["run", "image-dataset", "--params", "-"], /standard input: expected an object of params by name\n/],
      [["run", "-", "--param", "a"], /--param a: expected name=value/, waits(0)],
      [["show", "7"], /workflow_id: expected an id.*see orb workflows list/],
    ];
    for (const [args, words, input = ""] of cases) {
      const { code, stderr } = await installation.run(["workflows", ...args], { input });
      assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, words);
    }
    assert.deepEqual(await installation.json("workflows", "list"), [], "nothing was created");
    const fine = await installation.run(["workflows", "validate", "-"], { input: waits(1) });
    assert.deepEqual([fine.code, fine.stdout], [0, "the definition is valid\n"]);
  });

  test("templates are listed, shown, changed and put back as the next version; kinds tell their params [slow]", async () => {
    await using installation = new Installation();
    const list = await installation.run(["workflows", "templates", "list"]);
    assert.match(list.stdout, /^image-dataset +1 +yes +Downloads images/m);
    const shown = await installation.run(["workflows", "templates", "show", "image-dataset"]);
    assert.match(shown.stdout, /^crawl\.max_pages +integer, at least 1 +200 +Maximum number of pages/m);
    assert.match(shown.stdout, /^validate +validate +download$/m);
    const { stdout } = await installation.run(["workflows", "templates", "show", "price-monitor", "--json"]);
    const copy = installation.file("mine.json", stdout.replaceAll("Reads pages,", "Looks at pages,"));
    const put = await installation.run(["workflows", "templates", "put", "price-monitor", copy]);
    const [version, instead] = put.stdout.split("\n");
    assert.deepEqual([put.code, version], [0, "price-monitor version 2"], put.stderr);
    assert.match(instead ?? "", /it replaces the built-in version .*: orb workflows templates delete price-monitor$/);
    const versions = await installation.json<TemplateView[]>("workflows", "templates", "versions", "price-monitor");
    assert.deepEqual(
      versions.map(({ version, description }) => [version, description?.slice(0, 5)]),
      [
        [2, "Looks"],
        [1, "Reads"],
      ],
    );
    const old = ["workflows", "templates", "show", "price-monitor", "--template-version", "1"];
    assert.match((await installation.run(old)).stdout, /^saved +built in$/m);
    const kept = { name: "mine", params: { type: "object", properties: { s: { type: "integer" } } } };
    const steps = [{ name: "w", task_type: "wait", params: { seconds: "${{ params.s }}" } }];
    await installation.run(["workflows", "templates", "put", "mine", "-"], {
      input: JSON.stringify({ ...kept, steps }),
    });
    const job = { name: "Daily", kind: "workflow", workflow: { template: "mine", params: { s: 0 } } };
    const saved = await installation.run(["jobs", "create", "-"], { input: JSON.stringify(job) });
    assert.match(saved.stdout, /^kind +workflow\ntemplate +mine\nparams +\{"s":0\}$/m, saved.stderr);
    assert.doesNotMatch(saved.stdout, /strategy/);
    const started = await installation.run(["jobs", "run", idIn(saved), "--wait"]);
    assert.equal(started.code, 0, started.stderr);
    const told = await installation.run(["jobs", "show", idIn(saved)]);
    assert.match(told.stdout, new RegExp(`^last run +${idIn({ ...started, stderr: "" })} completed$`, "m"));
    assert.match((await installation.run(["jobs", "list"])).stdout, /^\S{36} +Daily +workflow +mine$/m);
    const remove = ["workflows", "templates", "delete", "price-monitor"];
    const removed = await installation.run(remove);
    assert.deepEqual([removed.code, removed.stdout], [0, "deleted price-monitor\n"], removed.stderr);
    const again = await installation.run(remove);
    assert.deepEqual(
      [again.code, /is a built-in template without saved versions/.test(again.stderr)],
      [1, true],
      again.stderr,
    );
    const wrong = await installation.run(["workflows", "templates", "put", "mine", "-"], { input: waits(-1) });
    assert.deepEqual(
      [wrong.code, /standard input:3:\d+: steps\[0\]\.params\.seconds/.test(wrong.stderr)],
      [2, true],
      wrong.stderr,
    );
    const kinds = await installation.run(["workflows", "kinds"]);
    assert.match(kinds.stdout, /^webhook +Sends a request/m);
    assert.match((await installation.run(["workflows", "kinds", "webhook"])).stdout, /^url +text +required/m);
    const unknown = await installation.run(["workflows", "kinds", "webhok"]);
    assert.deepEqual([unknown.code, /Did you mean webhook\?/.test(unknown.stderr)], [1, true]);
  });
});

test(
  "at a terminal the steps are a tree that changes in place, and stays when it is over [slow]",
  { skip: hasScript ? false : "there is no script(1) here" },
  async () => {
    await using site = await openSite();
    await using orb = new Orb();
    orb.file("flow.yaml", flow(site));
    const screen = onTerminal(orb, ["workflows", "run", "flow.yaml"]);
    assert.equal(await screen.ended, 0, screen.text);
    const text = stripVTControlCharacters(screen.text);
    assert.match(text, /Two branches {2}█*░* \d+ % {2}\d of 3 steps ended/);
    assert.match(
      text,
      /Two branches {2}completed {2}\S+ 100 % {2}3 of 3 steps ended[^\r]*\r\n├─ ✓ pages +[\d.]+ s {2}2 of 2 entries done\r\n└─ ✓ tell +[\d.]+ s {2}status 200\r\n✓ table +[\d.]+ s {2}count 2, [^\r]*\r\n\S{36} completed\r\n3 files: orb workflows files \S{36}\r\n$/,
    );
    await orb.audit();
  },
);
