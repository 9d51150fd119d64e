/**
 * Entry point of the store's threads. A thread does not inherit the compile cache of its process, and loading all methods
 * takes twice as long without it: the process passes its folder on, and the thread enables it.
 */
import { enableCompileCache, flushCompileCache } from "node:module";
import { workerData } from "node:worker_threads";

/** `compiledIn` is undefined when the process keeps none. */
const { compiledIn, begins } = workerData as { compiledIn: string | undefined; begins: "thread" | "wire" };
if (compiledIn !== undefined) enableCompileCache(compiledIn);
await (begins === "wire" ? import("./wire.ts") : import("./thread.ts"));
if (compiledIn !== undefined) flushCompileCache();
