// Runs one test file in a process of its own and says how it went. The process gets a group of its own, so that a file
// that hangs can be ended together with everything it started.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EVENT_FD, noTotals, outcomeOf } from "./reporter.mjs";

const REPORTER = fileURLToPath(new URL("./reporter.mjs", import.meta.url));

/** `spareMs` is the time after its limit that a test gets to report that it failed. */
export function runTestFile({ node, file, cwd, env, testTimeoutMs, spareMs, signal }) {
  return new Promise((resolve) => {
    const totals = noTotals();
    const failures = [];
    let summary = false;
    let running = "its first test";
    let hung = false;
    let output = "";
    const child = spawn(
      node,
      [`--test-timeout=${testTimeoutMs}`, `--test-reporter=${REPORTER}`, "--test-reporter-destination=stdout", file],
      { cwd, env, stdio: ["ignore", "pipe", "pipe", "pipe"], detached: true },
    );
    const killAll = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
        return true;
      } catch {
        return false;
      }
    };
    // No single test may take longer than its limit, so a longer silence means that the process is stuck: in an endless
    // loop, or on something that was left open.
    const onSilence = () => {
      hung = true;
      killAll();
    };
    let silence = setTimeout(onSilence, testTimeoutMs + spareMs);
    signal?.addEventListener("abort", killAll, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => (output += text));
    }
    createInterface({ input: child.stdio[EVENT_FD] }).on("line", (line) => {
      clearTimeout(silence);
      silence = setTimeout(onSilence, testTimeoutMs + spareMs);
      const event = JSON.parse(line);
      if (event.type === "summary") summary = true;
      if (event.type === "start") running = event.name;
      const outcome = outcomeOf(event);
      if (outcome === undefined) return;
      totals[outcome] += 1;
      if (outcome === "failed") failures.push(event);
    });
    child.on("error", (error) => {
      failures.push({ name: "the file could not be run", error: error.message });
      totals.failed += 1;
    });
    // `close` would wait for whatever inherited the streams; a moment is enough to read what was written.
    child.on("exit", (code, died) => {
      clearTimeout(silence);
      signal?.removeEventListener("abort", killAll);
      const leftovers = killAll();
      setTimeout(() => {
        const complaint = endOf({ code, died, hung, summary, running, totals });
        if (complaint !== undefined) {
          failures.push({ name: "the file as a whole", error: complaint });
          totals.failed += 1;
        }
        resolve({ totals, failures, output, leftovers: leftovers && !hung });
      }, 50);
    });
  });
}

/** A file may also fail apart from its tests. */
function endOf({ code, died, hung, summary, running, totals }) {
  if (hung)
    return summary || running === undefined ? "did not end: something is left open" : `hung in or after "${running}"`;
  if (died !== null) return `ended by ${died} in or after "${running}"`;
  if (!summary) return `ended with exit code ${code} before its tests did, in or after "${running}"`;
  if (code !== 0 && totals.failed === 0) return `ended with exit code ${code} though no test failed`;
  return undefined;
}
