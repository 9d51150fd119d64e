/**
 * Entry point of a reader thread. Threads do not inherit the compile cache of their process, and loading the reader code
 * takes twice as long without it: so the thread gets the cache directory and enables it.
 */
import { enableCompileCache, flushCompileCache } from "node:module";
import { workerData } from "node:worker_threads";

/** Undefined: the process has no compile cache. */
const { compiledIn } = workerData as { compiledIn: string | undefined };
if (compiledIn !== undefined) enableCompileCache(compiledIn);
await import("./thread.ts");
// Threads are terminated without notice, so the compile cache is written now.
if (compiledIn !== undefined) flushCompileCache();
