import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite, type Visit } from "../support/misbehaving-site.ts";
import { assertSound } from "./kills.ts";
import { FULL, Orb, until } from "./orb.ts";
import { Served } from "./served.ts";

const ENTRIES = 6;
const FILES = 5;
/** In an order in which each is asked for when those before it are answered. */
const EVERY_PLACE = "seed left right page each/2 files/1 left2 join1 join2 last".split(" ");
const KILLED_AT = FULL ? EVERY_PLACE : ["each/2", "files/1", "join1"];

/** A user's steps: one calls the target, one adds up what came to it. */
const MODULE = `
const params = { type: "object" };
export const steps = [
  {
    kind: "note",
    params,
    async run(context, { url, count = 0 }) {
      const { status } = await context.fetch(url);
      if (status !== 200) throw new Error("the target answered " + status);
      return { output: { count }, items: Array.from({ length: count }, (_, n) => ({ n })) };
    },
  },
  {
    kind: "sum",
    params,
    async run(context) {
      let [sum, items] = [0, 0];
      for await (const { n = 0 } of context.items()) [sum, items] = [sum + n, items + 1];
      return { sum, items };
    },
  },
];
`;

/** seed → four branches, which meet in twos and then all. */
function diamond(origin: string) {
  const step = (name: string, task_type: string, dependencies: string[], params: object, more: object = {}) => ({
    name,
    task_type,
    dependencies,
    params,
    ...more,
  });
  const note = (name: string, dependencies: string[], count = 0) =>
    step(name, "note", dependencies, { url: `${origin}/${name}`, count });
  const call = (name: string, dependencies: string[], body: JsonValue) =>
    step(name, "webhook", dependencies, { url: `${origin}/${name}`, body });
  return {
    name: "Diamond",
    steps: [
      note("seed", [], ENTRIES),
      note("left", ["seed"], 3),
      call("right", ["seed"], "${{ steps.seed.output }}"),
      step("page", "scrape", ["seed"], {
        url: `${origin}/page`,
        items: { css: "li" },
        fields: { link: { css: "a", attr: "href" } },
      }),
      step("pause", "wait", ["seed"], { seconds: 0.2 }),
      note("left2", ["left"], 2),
      step(
        "each",
        "webhook",
        ["seed", "right"],
        { url: `${origin}/each/\${{ item.n }}`, body: { index: "${{ index }}" } },
        { for_each: { in: "${{ steps.seed.items }}", concurrency: 3 } },
      ),
      step("files", "download", ["page"], { field: "link" }),
      note("join1", ["left2", "each"], 1),
      call("join2", ["files", "pause"], { files: "${{ steps.files.output.downloaded }}" }),
      step("sum", "sum", ["join1", "join2", "left"], {}),
      call("last", ["sum", "join1"], {
        sum: "${{ steps.sum.output.sum }}",
        items: "${{ steps.sum.output.items }}",
        entries: "${{ steps.each.output.completed }}",
      }),
    ],
  };
}

/** The server that all steps call. It answers when the test releases it, and records its answers. */
class Target implements AsyncDisposable {
  readonly site: MisbehavingSite;
  /** Places whose requests are held. */
  readonly held: Set<string>;
  readonly answered = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  private constructor(site: MisbehavingSite, held: readonly string[]) {
    this.site = site;
    this.held = new Set(held);
  }

  static async start(held: readonly string[]): Promise<Target> {
    const target = new Target(await MisbehavingSite.start(), held);
    target.site.on("*", async (visit, response) => {
      const place = visit.path.slice(1);
      await target.#turn(place);
      if (response.destroyed) return;
      target.answered.set(place, (target.answered.get(place) ?? 0) + 1);
      if (place === "robots.txt") response.writeHead(404).end();
      else if (place === "page") response.setHeader("content-type", "text/html").end(LIST);
      else if (place.startsWith("files/"))
        response.setHeader("content-type", "application/octet-stream").end(`the file ${place}`);
      else response.setHeader("content-type", "application/json").end(JSON.stringify({ place }));
    });
    return target;
  }

  #turn(place: string): Promise<void> {
    if (!this.held.has(place)) return Promise.resolve();
    return new Promise((resolve) => {
      const line = this.#waiting.get(place) ?? new Set();
      this.#waiting.set(place, line.add(resolve));
    });
  }

  release(place: string): void {
    this.held.delete(place);
    for (const go of this.#waiting.get(place) ?? []) go();
  }

  /** Places with a request that waits for its answer. */
  get open(): Set<string> {
    return new Set(this.site.visits.filter(({ endedAt }) => endedAt === null).map(({ path }) => path.slice(1)));
  }

  count(place: string): number {
    return this.answered.get(place) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.site[Symbol.asyncDispose]();
  }
}

const LIST = `<!doctype html><title>List</title><ul>${Array.from({ length: FILES }, (_, n) => `<li><a href="/files/${n}">File ${n}</a></li>`).join("")}</ul>`;

async function tasksOf(served: Served, id: string): Promise<Map<string, WorkflowTaskView>> {
  const tasks = (await served.api.get(`/workflows/${id}/tasks`)).json<WorkflowTaskView[]>();
  return new Map(tasks.map((task) => [task.task_name, task]));
}

async function begin(served: Served, target: Target): Promise<string> {
  const answer = await served.api.post("/workflows", { definition: diamond(target.site.origin) });
  assert.equal(answer.status, 201, answer.text);
  return answer.json<{ id: string }>().id;
}

/** Only held requests are open: every answered one is written. */
async function isQuiet(served: Served, id: string, target: Target): Promise<boolean> {
  for (const { task_name: name, status, waiting_for: waiting, child_run_ids: children } of (
    await tasksOf(served, id)
  ).values()) {
    if (status === "queued") return false;
    if (status !== "running" || waiting?.for === "time") continue;
    let unfinished = waiting?.for === "entries" ? waiting.open : 1;
    if (name === "files" && waiting !== null) {
      const downloads = (await served.api.get(`/jobs/runs/${children.at(-1)}/tasks`)).json<TaskView[]>();
      unfinished = downloads.filter((task) => task.status !== "completed").length;
    }
    const asked = [...target.open].filter((place) => place === name || place.startsWith(`${name}/`));
    if (asked.length !== unfinished) return false;
  }
  return true;
}

/** The steps' outputs, without values that differ between runs. */
async function outcomeOf(served: Served, id: string, target: Target): Promise<JsonValue> {
  const outcome: Record<string, JsonValue> = {};
  for (const [name, { result, status }] of await tasksOf(served, id)) {
    const { run_id: _run, waited_seconds: _waited, ...output } = result ?? {};
    const items = (await served.api.get(`/workflows/${id}/tasks/${name}/items`)).json<Record<string, JsonValue>[]>();
    const kept = items.map(({ artifact_id: _id, ...item }) => item);
    outcome[name] = { status, output, items: kept };
  }
  const told = target.site.of("/last").map(({ body }: Visit) => JSON.parse(body) as JsonValue);
  outcome["told"] = told.at(-1) ?? null;
  return JSON.parse(JSON.stringify(outcome).replaceAll(target.site.origin, "http://target")) as JsonValue;
}

async function assertOneEnd(served: Served, id: string): Promise<void> {
  const messages = (await served.events(id)).map(({ message }) => message);
  assert.deepEqual(
    messages.filter((message) => message.startsWith("Run ") && !/^Run (created|started)/.test(message)),
    ["Run completed: 12 of 12 steps done"],
    messages.join("\n"),
  );
  for (const name of (await tasksOf(served, id)).keys())
    for (const what of ["started", "completed"])
      assert.equal(messages.filter((message) => message === `Step ${name} ${what}`).length, 1, `${name} ${what}`);
}

describe("a workflow of twelve steps that part and meet", () => {
  test("has its branches at work at once, and gives the same through kills in mid-step, each step done once", async () => {
    await using orb = new Orb();
    orb.env["APP_HANDLERS"] = orb.file("steps.mjs", MODULE);

    await using free = await Target.start(["left", "right", "page"]);
    let served = await Served.start(orb);
    const calm = await begin(served, free);
    await free.site.when(
      () => ["left", "right", "page"].every((place) => free.open.has(place)),
      "three branches are at work at the same moment",
    );
    for (const place of [...free.held]) free.release(place);
    await served.ended(calm);
    await assertOneEnd(served, calm);
    const expected = await outcomeOf(served, calm, free);
    for (const { path } of free.site.visits) assert.equal(free.count(path.slice(1)), 1, path);

    await using target = await Target.start(KILLED_AT);
    const id = await begin(served, target);
    let cut = 0;
    for (const place of KILLED_AT) {
      await target.site.when(() => target.open.has(place), `${place} is asked for`, 60_000);
      await until(() => isQuiet(served, id, target), "all that was answered is written down");
      cut += target.open.size;
      await served.killed();
      await target.site.when(() => target.open.size === 0, "the dead process's connections are gone");
      target.release(place);
      served = await Served.start(orb);
    }
    await served.ended(id);
    await assertOneEnd(served, id);
    assert.deepEqual(await outcomeOf(served, id, target), expected);
    // Only steps that a kill interrupted ran again; answered ones did not.
    for (const [place, count] of target.answered) if (place !== "robots.txt") assert.equal(count, 1, place);
    const asked = target.site.visits.filter(({ path }) => path !== "/robots.txt").length;
    assert.equal(asked, target.answered.size - Number(target.answered.has("robots.txt")) + cut);
    for (const { task_name: name, attempts, child_run_ids: children } of (await tasksOf(served, id)).values()) {
      assert.equal(attempts.length, 1, `${name}: a kill is no failed attempt`);
      assert.equal(children.length, ["page", "files"].includes(name) ? 1 : 0, `${name} has started nothing twice`);
    }
    await served.terminated();
    await orb.audit();
    assertSound(orb.database);
  });
});
