/** Item files between steps: JSON lines, streamed in both directions. */
import { FetchFailure } from "../../domain/run/failure.ts";
import type { TaskArtifact } from "../../domain/run/outcome.ts";
import type { ItemsFile } from "../../domain/workflow/definition.ts";
import type { Item, StepFiles } from "../step-kind.ts";

const ITEMS_CONTENT_TYPE = "application/x-ndjson";
/** Limit of one item; the number of items is unlimited. */
const LONGEST_ITEM = 32 * 1024 * 1024;
const PIECE_CHARS = 64 * 1024;

/** Stores items as they come; without items, there is no file. */
export async function writeItems(
  files: Pick<StepFiles, "save">,
  name: string,
  items: AsyncIterable<Item> | Iterable<Item>,
): Promise<{ items: ItemsFile; file: TaskArtifact | null }> {
  const counted = { count: 0 };
  const lines = linesOf(items, counted);
  const first = await lines.next();
  if (first.done === true) return { items: { hash: null, size: 0, count: 0 }, file: null };
  const file = await files.save(behind(first.value, lines), { name, contentType: ITEMS_CONTENT_TYPE });
  return { items: { hash: file.hash, size: file.size, count: counted.count }, file };
}

async function* behind(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

async function* linesOf(
  items: AsyncIterable<Item> | Iterable<Item>,
  counted: { count: number },
): AsyncGenerator<Uint8Array> {
  let piece = "";
  for await (const item of items) {
    const line = lineOf(item, counted.count);
    counted.count += 1;
    piece += `${line}\n`;
    if (piece.length < PIECE_CHARS) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}

function lineOf(item: Item, index: number): string {
  let line: string | undefined;
  try {
    line = typeof item === "object" && item !== null && !Array.isArray(item) ? JSON.stringify(item) : undefined;
  } catch {
    // A cycle, or a value that JSON cannot represent.
  }
  if (line === undefined) throw new FetchFailure("step_bad_result", `item ${index} is not a JSON object`);
  if (line.length > LONGEST_ITEM)
    throw new FetchFailure(
      "step_bad_result",
      `item ${index} has ${line.length} characters; at most ${LONGEST_ITEM} are allowed`,
    );
  return line;
}

/** Throws the signal's reason as soon as it aborts, whatever the source does. */
export async function* untilAborted(
  items: AsyncIterable<Item> | Iterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item> {
  for await (const item of items) {
    signal.throwIfAborted();
    yield item;
  }
}

export async function* readItems(
  files: { open(hash: string): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>> },
  file: Pick<ItemsFile, "hash">,
): AsyncGenerator<Item> {
  if (file.hash === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of await files.open(file.hash)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as Item;
  }
  if (rest !== "") yield JSON.parse(rest) as Item;
}
