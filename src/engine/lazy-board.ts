import type { Board } from "./port.ts";

/** Most processes never show theirs: it is loaded, and connects, when somebody looks. */
export function lazyBoard(make: () => Promise<Board>): Board {
  let board: Promise<Board> | null = null;
  return {
    open: async (path, query) => (await (board ??= make())).open(path, query),
    close: async () => (await board)?.close(),
  };
}
