/** Detects what an execution left running in its thread: timers, requests, child processes. */

/** Closing handles takes some turns of the event loop; starting a new process would take longer. */
const CLOSING_MS = 50;
const CHECK_MS = 5;

/** Handles that the module has kept open since it was loaded. */
let baseline = 0;

export function recordBaseline(): void {
  baseline = running();
}

export async function leavesSomethingRunning(): Promise<boolean> {
  await new Promise(setImmediate);
  for (let waited = 0; running() > baseline; waited += CHECK_MS) {
    if (waited >= CLOSING_MS) return true;
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
  return false;
}

/** Counts what keeps the event loop alive, without message ports, which come and go with the console. */
function running(): number {
  return process.getActiveResourcesInfo().filter((type) => type !== "MessagePort").length;
}
