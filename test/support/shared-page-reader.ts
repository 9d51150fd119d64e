import { openPageReader } from "../../src/app/page-tools.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { PageReader } from "../../src/extract/pool.ts";

let reader: PageReader | null = null;

/** One for all servers of this process: a new thread loads its code for half a second. Idle, it does not keep the process alive. */
export function sharedPageReader(): PageReader {
  return (reader ??= openPageReader(systemClock));
}
