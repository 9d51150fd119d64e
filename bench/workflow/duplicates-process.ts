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

const count = Number(process.argv[2]);
const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
try {
  const { config } = loadConfig({ cwd: dir, env: { APP_LOG_LEVEL: "error" } });
  await using orb = await Orchestrator.start(config, {
    handlers: fileURLToPath(new URL("pictures.mjs", import.meta.url)),
  });
  const restingMb = process.memoryUsage.rss() / 1e6;
  const { id } = await orb.workflows.create({
    definition: {
      name: "duplicates",
      steps: [
        { name: "pictures", task_type: "pictures", params: { count } },
        { name: "deduplicate", task_type: "deduplicate", dependencies: ["pictures"] },
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
