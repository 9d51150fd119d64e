import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { readItems } from "../../workflows/items/items-file.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { requireWorkflow } from "./control.ts";
import { requireStep } from "./read.ts";
import { resultOf } from "./task-view.ts";

interface ItemsDeps extends OrchestratorDeps {
  openArtifact(hash: string): Promise<AsyncIterable<Uint8Array>>;
}

export type ItemView = Record<string, JsonValue>;

/** All outputs of a step. */
export async function* allItems(deps: ItemsDeps, id: string, task: string): AsyncGenerator<ItemView> {
  await requireWorkflow(deps, id);
  const step = await requireStep(deps, id, task);
  const file = resultOf(step.task)?.items ?? null;
  if (file === null) return;
  for await (const item of readItems({ open: deps.openArtifact }, file)) yield item as ItemView;
}

/** `limit` items after the first `skip`. */
export async function listItems(
  deps: ItemsDeps,
  id: string,
  task: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<ItemView[]> {
  const found: ItemView[] = [];
  let index = 0;
  for await (const item of allItems(deps, id, task)) {
    if (index >= skip) found.push(item);
    index += 1;
    if (found.length === limit) break;
  }
  return found;
}
