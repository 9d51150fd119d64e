/** Runs one deduplication workflow in a separate process, to measure its memory. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig } from "../../src/config/load.ts";
import { Orchestrator } from "../../src/app/library/library.ts";

export interface DuplicatesFigures {
  seconds: number;
  output: unknown;
  /** Memory of the process before the step and at its peak, in megabytes. */
  restingMb: number;
  peakMb: number;
}

const SOURCES = {
  pictures: { module: "pictures.mjs", params: {} },
  texts: { module: "corpus.ts", params: { text: "text" } },
};
const what = process.argv[2] as keyof typeof SOURCES;
const count = Number(process.argv[3]);
const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
try {
  const { config } = loadConfig({ cwd: dir, env: { APP_LOG_LEVEL: "error" } });
  await using orb = await Orchestrator.start(config, {
    handlers: fileURLToPath(new URL(SOURCES[what].module, import.meta.url)),
  });
  const restingMb = process.memoryUsage.rss() / 1e6;
  const { id } = await orb.workflows.create({
    definition: {
      name: "duplicates",
      steps: [
        { name: "items", task_type: what, params: { count } },
        { name: "deduplicate", task_type: "deduplicate", dependencies: ["items"], params: SOURCES[what].params },
      ],
    },
  });
  const { status, error_message: why } = await orb.workflows.wait(id);
  if (status !== "completed") throw new Error(`the workflow ${status}: ${why}`);
  const step = (await orb.workflows.tasks(id)).at(-1);
  const figures: DuplicatesFigures = {
    seconds: step?.actual_duration ?? 0,
    output: step?.result,
    restingMb,
    peakMb: process.resourceUsage().maxRSS / 1000,
  };
  process.send?.(figures);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
