/**
 * Where the threads of the store begin. They do not share the compiled code that their process keeps on disk, and loading
 * all verbs takes twice as long without: so a thread is told where it is, and uses it, too.
 */
import { enableCompileCache, flushCompileCache } from "node:module";
import { workerData } from "node:worker_threads";

/** `compiledIn` is undefined when the process keeps none. */
const { compiledIn, begins } = workerData as { compiledIn: string | undefined; begins: "thread" | "wire" };
if (compiledIn !== undefined) enableCompileCache(compiledIn);
await (begins === "wire" ? import("./wire.ts") : import("./thread.ts"));
if (compiledIn !== undefined) flushCompileCache();
