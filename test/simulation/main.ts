/**
 * npm run simulate -- [--crawls] [--seeds N] [--seed N]: schedules of crashes on one machine, on the product itself.
 * npm run simulate -- --writers [--seeds N] [--seed N]: schedules of a small cluster whose writers wait for locks.
 * npm run simulate -- --workers N[,N …]: a cluster of that size, on the product's rules.
 */
import { parseArgs } from "node:util";
import { runClusterSimulation } from "./cluster/main.ts";
import { playSchedules, sentenceOf } from "./cluster/schedules.ts";
import { runCrawlScenario } from "./crawl-scenario.ts";
import { runScenario } from "./scenario.ts";

const args = process.argv.slice(2);
if (args.some((arg) => /^--workers(=|$)/.test(arg))) runClusterSimulation(args);
else await playCrashes();

async function playCrashes(): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: "string", default: "10000" },
      from: { type: "string", default: "1" },
      seed: { type: "string" },
      crawls: { type: "boolean", default: false },
      writers: { type: "boolean", default: false },
    },
  });
  const first = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  if (values.writers) {
    const told = playSchedules(first, count, ({ schedules }) => {
      if (schedules % 500 === 0) process.stdout.write(`${schedules} schedules\n`);
    });
    process.stdout.write(`${sentenceOf(told)}\n`);
    return;
  }
  const play = values.crawls ? runCrawlScenario : runScenario;
  let crashes = 0;
  let tasks = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const report = await play(seed);
      crashes += report.crashes;
      tasks += report.tasks;
    } catch (error) {
      process.stderr.write(
        `seed ${seed} failed; repeat it with: npm run simulate -- ${values.crawls ? "--crawls " : ""}--seed ${seed}\n`,
      );
      throw error;
    }
    if ((seed - first) % 500 === 499)
      process.stdout.write(`${seed - first + 1} schedules, ${tasks} tasks, ${crashes} crashes\n`);
  }
  process.stdout.write(`${count} schedules passed: ${tasks} tasks, ${crashes} crashes\n`);
}
