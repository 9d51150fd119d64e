// npm start: installs what is missing, then runs the server. `npm start -- …` passes arguments on.
import { join } from "node:path";
import { handOver, isNewEnough } from "../bin/handover.mjs";
import { ensureInstalled, node24, root, script } from "./bootstrap.mjs";

const MAIN_JOB = ["serve"];

await script(async (args) => {
  // If the system's Node suffices, the development packages, which contain another one, are not needed.
  await ensureInstalled({ dev: !isNewEnough(process.versions.node) });
  const orb = join(root, "bin", "orb");
  const words = [...MAIN_JOB, ...args];
  // For process lists.
  process.title = `orb ${MAIN_JOB.join(" ")}`;
  if (isNewEnough(process.versions.node)) {
    // In this process: every process in between can lose or duplicate a signal.
    process.argv.splice(1, process.argv.length, orb, ...words);
    await import("../bin/orb");
    return process.exitCode;
  }
  handOver(node24(), [orb, ...words]);
  return undefined;
});
