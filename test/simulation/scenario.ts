import assert from "node:assert/strict";
import { integerBelow, type Random, seededRandom } from "../../src/base/random.ts";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import { siteOf } from "../../src/domain/text/url.ts";
import { laneOfSite } from "../../src/domain/lane/lane.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import type { NewTask, RunRecord, Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { Crew, type CrewPlan, crewPlan, pick } from "./crew.ts";
import { Network, type PageScript } from "./network.ts";
import { World } from "./world.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

export interface ScenarioReport {
  tasks: number;
  requests: number;
  crashes: number;
  steps: number;
}

interface Plan extends CrewPlan {
  sites: number;
  perSite: number;
  minDelayMs: number;
  runs: number;
  resolvers: Record<string, number>;
}

function makePlan(random: Random): Plan {
  return {
    sites: 1 + integerBelow(random, 5),
    perSite: pick(random, [1, 2, 3, 10]),
    minDelayMs: pick(random, [0, 0, 0, 20, 1500]),
    ...crewPlan(random),
    runs: pick(random, [1, 1, 2, 4]),
    resolvers: pick(random, [{}, { slow: 1 }, { slow: 2, other: 1 }]),
  };
}

function makeScript(random: Random, sites: number, index: number): PageScript {
  const roll = random.next();
  if (roll < 0.6) return { kind: "ok" };
  if (roll < 0.72) return { kind: "flaky", times: 1 + integerBelow(random, 2) };
  if (roll < 0.78) return { kind: "missing" };
  if (roll < 0.82) return { kind: "broken" };
  if (roll < 0.88)
    return { kind: "limited", times: 1 + integerBelow(random, 3), retryAfterMs: pick(random, [null, 3000]) };
  if (roll < 0.94) return { kind: "redirect", to: `http://s${integerBelow(random, sites)}.test/moved/${index}` };
  return { kind: "refused" };
}

/** One schedule, decided by the seed alone: the product at work while its processes are killed, frozen and started again. */
export async function runScenario(seed: number): Promise<ScenarioReport> {
  const random = seededRandom(seed);
  const plan = makePlan(random);
  const world = new World(random);
  const network = new Network(world, {
    perSite: plan.perSite,
    perResolver: plan.resolvers,
    minDelayMs: plan.minDelayMs,
  });
  network.latency = () => pick(random, [0, 1, 5, 40, 400]);
  const rules: LaneRules = {
    maxPerSite: plan.perSite,
    minDelayMs: plan.minDelayMs,
    breaker: { failures: 5, cooldownMs: 30_000 },
    retry: {
      backoff: { baseMs: 1000, maxMs: 30_000 },
      maxAttempts: 3,
      retryAfterMaxMs: 3_600_000,
      rateLimitMaxWaits: 5,
    },
    maxPerResolver: plan.resolvers,
  };
  const truth = openSqliteStore({ path: ":memory:", clock: world.clock(null), connection: preparedInMemory() });
  const crew = new Crew(world, truth, random, plan, rules, (process) => network.handlerFor(process));

  const runs: RunRecord[] = [];
  const expected = new Map<string, { runId: string; url: string; script: PageScript }>();
  for (let index = 0; index < plan.runs; index += 1) {
    runs.push(
      await truth.openRun(
        { kind: "queue", alias: `queue-${index}`, maxAttempts: null, snapshot: {} },
        world.clock(null).now(),
      ),
    );
  }
  const batches = 1 + integerBelow(random, 4);
  let submitted = 0;
  const submit = (batch: number) => {
    const run = pick(random, runs);
    const tasks: NewTask[] = Array.from({ length: 1 + integerBelow(random, 20) }, (_, index) => {
      const number = batch * 100 + index;
      const url = `http://s${integerBelow(random, plan.sites)}.test/${run.alias}/${number}`;
      const script = makeScript(random, plan.sites, number + runs.indexOf(run) * 10_000);
      network.pages.set(url, script);
      if (script.kind === "redirect") network.pages.set(script.to, { kind: "ok" });
      const key = `${run.alias}:${number}`;
      expected.set(key, { runId: run.id, url, script });
      return {
        key,
        lane: laneOfSite(siteOf(url)),
        site: siteOf(url),
        resolver: pick(random, [null, null, "slow", "other"]),
        url,
        priority: integerBelow(random, 3),
        handler: null,
        payload: null,
      };
    });
    const enqueue = async () => {
      const now = world.clock(null).now();
      const first = await truth.enqueue(run.id, tasks, now);
      // The client that got no answer asks again: nothing is added twice.
      const second = await truth.enqueue(run.id, tasks, now);
      assert.equal(second.added, 0);
      world.wroteElsewhere();
      const holder = await truth.engineHolder();
      // A lost poke must not matter.
      if (holder !== null && world.chance(0.7)) world.poke(holder.address, first.lanes);
      submitted += 1;
    };
    world.schedule(batch * pick(random, [0, 100, 5000]), () => void enqueue());
  };
  crew.start();
  for (let batch = 0; batch < batches; batch += 1) submit(batch);

  let ended = false;
  const look = async () => {
    ended = submitted === batches && (await allEnded(truth, runs));
    if (!ended) world.schedule(1000, () => void look());
  };
  world.schedule(1000, () => void look());
  await world.run(() => ended || network.violations.length > 0, { until: world.time + 6 * 86_400_000, steps: 400_000 });
  crew.end();

  assert.deepEqual(network.violations, []);
  await check(truth, expected);
  assert.deepEqual((await truth.audit()).findings, []);
  const needed = [...expected.values()].length * (3 + 5 + 1);
  assert.ok(
    network.requests() <= needed + crew.crashes * plan.perSite * plan.sites * 4 + 1000,
    "far too many requests",
  );
  await truth.close();
  return { tasks: expected.size, requests: network.requests(), crashes: crew.crashes, steps: world.steps };
}

async function allEnded(store: Store, runs: RunRecord[]): Promise<boolean> {
  for (const { id } of runs) {
    const run = await store.run(id);
    if (run !== null && TERMINAL_RUN_STATES.includes(run.status)) continue;
    // A run that never got a task has nothing to end.
    if ((await store.counts(id)).length > 0) return false;
  }
  return true;
}

/** Every task ended as its page's behaviour demands, whatever happened to the processes. */
async function check(
  store: Store,
  expected: Map<string, { runId: string; url: string; script: PageScript }>,
): Promise<void> {
  for (const [key, { runId, script }] of expected) {
    const task = await store.taskByKey(runId, key);
    assert.ok(task !== null, `task ${key} is lost`);
    const story = `${key} (${script.kind}): ${task.state} ${JSON.stringify(task.failure)} ${JSON.stringify(task.attempts)}`;
    const results = await store.resultsOf(task.id);
    if (task.state === "completed") {
      assert.equal(results.length, 1, story);
      assert.equal((await store.artifactsOf(task.id)).length, 1, story);
    } else {
      assert.equal(results.length, 0, story);
    }
    // A site that broke down for good takes its waiting tasks along, whatever their page would have said.
    if (task.failure?.code === "circuit_open") continue;
    const spent = task.attempts.filter(
      (attempt) => attempt.failure_code !== null && attempt.failure_code !== "rate_limited",
    ).length;
    switch (script.kind) {
      case "ok":
      case "redirect":
      case "flaky":
        assert.equal(task.state, "completed", story);
        break;
      case "limited":
        assert.equal(task.state, "completed", story);
        assert.equal(task.tries, 1, story);
        break;
      case "missing":
      case "refused":
        assert.equal(task.state, "failed", story);
        assert.equal(spent, 1, story);
        break;
      case "broken":
        assert.equal(task.state, "failed", story);
        assert.equal(spent, 3, story);
        break;
    }
  }
}
