/** Whether an execution left something in the event loop of its thread: timers, requests, processes that go on without it. */

/** Closing handles needs some turns of the event loop; a new process would take longer. */
const CLOSING_MS = 50;
const LOOK_MS = 5;

/** Handles that the module itself keeps open since it was loaded. */
let usual = 0;

export function rememberWhatRuns(): void {
  usual = running();
}

export async function leavesSomethingRunning(): Promise<boolean> {
  await new Promise(setImmediate);
  for (let waited = 0; running() > usual; waited += LOOK_MS) {
    if (waited >= CLOSING_MS) return true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return false;
}

/** Without what does not keep a loop alive, and without the ports to the thread beside it, which come and go with the console. */
function running(): number {
  return process.getActiveResourcesInfo().filter((type) => type !== "MessagePort").length;
}
