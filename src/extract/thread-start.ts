/**
 * Where a reader thread begins. Threads do not share the compiled code that their process keeps on disk, and loading all
 * that reads a page takes twice as long without: so a thread is told where it is, and uses it, too.
 */
import { enableCompileCache, flushCompileCache } from "node:module";
import { workerData } from "node:worker_threads";

/** Undefined: the process keeps none. */
const { compiledIn } = workerData as { compiledIn: string | undefined };
if (compiledIn !== undefined) enableCompileCache(compiledIn);
await import("./thread.ts");
// A thread is ended without notice: what it has compiled is written now, if there was anything to compile.
if (compiledIn !== undefined) flushCompileCache();
