import { OrbError } from "../base/errors.ts";
import type { Board, BoardAnswer } from "../engine/port.ts";

export interface BoardDeps {
  /** The engine's own web pages; null: it has none. */
  board: Board | null;
}

/** URL prefix of the engine's own pages. */
export const BOARD_PATH = "/admin/queues";

/** Serves one of the engine's own pages or its assets. `path` is the part after `BOARD_PATH`. */
export async function openBoard(
  { board }: BoardDeps,
  path: string,
  query: Readonly<Record<string, unknown>>,
): Promise<BoardAnswer> {
  if (board === null)
    throw new OrbError("not_found", "this page shows the BullMQ tickets in Redis; with SQLite there are none", {
      hint: "`orb queue stats`, `orb workers` and `orb sites` show the work.",
    });
  const answer = await board.open(path, query);
  if (answer === null) throw new OrbError("not_found", `there is nothing at ${BOARD_PATH}${path}`);
  return answer;
}
