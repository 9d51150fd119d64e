/** Whether an execution left something in the event loop of its thread: timers, requests, processes that go on without it. */

/** What is being closed needs some turns of the loop; a new process would take longer than that. */
const CLOSING_MS = 50;
const LOOK_MS = 5;

/** What the module itself keeps going, since it was loaded. */
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
