import { strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import { isOrbweaverError } from "../../api-client/client.ts";
import { id, NextShape } from "../shapes.ts";
import { defineTool, ToolFailure } from "../tool.ts";

export const runCancel = defineTool({
  name: "run_cancel",
  title: "Cancel a run",
  description: "Cancel a scrape, crawl or workflow. Its results stay readable; it cannot be resumed.",
  input: strict({ run_id: id("from scrape, crawl_start or workflow_start") }),
  output: strict({ run_id: Type.String(), kind: Type.String(), status: Type.String(), next: NextShape }),
  role: "operator",
  hints: { reads: false, destroys: true, repeatable: true },
  call: async ({ run_id: runId }, { api }) => {
    try {
      const run = await api.runs.cancel(runId);
      return {
        run_id: run.id,
        kind: run.kind,
        status: run.status,
        next: { tool: "crawl_results", arguments: { run_id: run.id }, why: "to read its results" },
      };
    } catch (error) {
      if (!isOrbweaverError(error, "illegal_transition")) throw error;
      const run = await api.runs.get(runId);
      throw new ToolFailure(
        `The run is already ${run.status} and cannot be cancelled. crawl_results reads its results.`,
        {
          run_id: run.id,
          status: run.status,
        },
      );
    }
  },
});
