// npm start: installs what is missing, then does the main job. `npm start -- …` passes arguments on.
import { join } from "node:path";
import { handOver, isNewEnough } from "../bin/handover.mjs";
import { ensureInstalled, node24, root, script } from "./bootstrap.mjs";

const MAIN_JOB = ["serve"];

await script(async (args) => {
  // Node's own version suffices: then the development packages, which bring another, are not needed to run.
  await ensureInstalled({ dev: !isNewEnough(process.versions.node) });
  const orb = join(root, "bin", "orb");
  const words = [...MAIN_JOB, ...args];
  // What lists of processes show.
  process.title = `orb ${MAIN_JOB.join(" ")}`;
  if (isNewEnough(process.versions.node)) {
    // In this process: each process in between is one more that a signal can get lost or doubled in.
    process.argv.splice(1, process.argv.length, orb, ...words);
    await import("../bin/orb");
    return process.exitCode;
  }
  handOver(node24(), [orb, ...words]);
  return undefined;
});
