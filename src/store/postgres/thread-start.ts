/**
 * Entry point of the store's threads. A thread does not inherit the compile cache of its process, and loading all methods
 * takes twice as long without it: the process passes its folder on, and the thread enables it.
 */
import { enableCompileCache, flushCompileCache } from "node:module";
import { workerData } from "node:worker_threads";

/** `compileCacheDir` is undefined when the process has no compile cache. */
const { compileCacheDir, role } = workerData as { compileCacheDir: string | undefined; role: "thread" | "wire" };
if (compileCacheDir !== undefined) enableCompileCache(compileCacheDir);
await (role === "wire" ? import("./wire.ts") : import("./thread.ts"));
if (compileCacheDir !== undefined) flushCompileCache();
