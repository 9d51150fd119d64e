import type { Board } from "./port.ts";

/** Loads and connects the board on first use: most processes never show it. */
export function lazyBoard(make: () => Promise<Board>): Board {
  let board: Promise<Board> | null = null;
  return {
    open: async (path, query) => (await (board ??= make())).open(path, query),
    close: async () => (await board)?.close(),
  };
}
