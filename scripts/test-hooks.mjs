// Loaded before each test file. node:test follows every promise of the process, to know of an error that nobody caught
// which test it belongs to; files that await much spend a third of their time on that. Here it follows everything but
// promises: such an error may then be told as the file's instead of the test's, and fails the run as before.
import hooks from "node:async_hooks";
import { isMainThread } from "node:worker_threads";

// Threads and processes that a test starts inherit the flags.
if (isMainThread && /(?:\.test\.ts|test-together\.mjs)$/.test(process.argv[1] ?? "")) {
  const { createHook } = hooks;
  hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
  const { beforeEach } = await import("node:test");
  hooks.createHook = createHook;
  // Tests that wait for nothing would follow each other without a turn for the reporter, and look like one that hangs.
  beforeEach(() => new Promise((resolve) => setImmediate(resolve)));
}
