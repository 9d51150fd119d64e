// Runs test files in a process of their own and says how it went. The process gets a group of its own, so that a file that
// hangs can be ended together with everything it started.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EVENT_FD, noTotals, outcomeOf } from "./reporter.mjs";

const REPORTER = fileURLToPath(new URL("./reporter.mjs", import.meta.url));
const TOGETHER = fileURLToPath(new URL("./load-files.mjs", import.meta.url));
const HOOKS = new URL("./hooks.mjs", import.meta.url).href;

const CPU_FD = 4;
/** The shell knows what all that it waited for has used, and what those waited for. */
const MEASURED = ["sh", "-c", `"$@"; code=$?; times >&${CPU_FD}; exit $code`, "sh"];

/**
 * `only` and `skip` choose tests by their titles. `spareMs` is the time after its limit that a test gets to report that it failed;
 * `cpu` asks for seconds of processor time. `onFailure` is called at once, not at the end.
 */
export function runTestFiles(options) {
  const { node, files, only, skip, cwd, env, testTimeoutMs, spareMs, signal, onFailure, onTest, cpu = false } = options;
  return new Promise((resolve) => {
    const totals = noTotals();
    const fail = (failure) => {
      totals.failed += 1;
      onFailure(failure);
    };
    let summary = false;
    let running = "its first test";
    let hung = false;
    let output = "";
    let times = "";
    const flags = [
      ...[`--import=${HOOKS}`, `--test-timeout=${testTimeoutMs}`, `--test-reporter=${REPORTER}`],
      ...(only === undefined ? [] : [`--test-name-pattern=${only}`]),
      ...(skip === undefined ? [] : [`--test-skip-pattern=${skip}`]),
    ];
    const [command, ...words] = [
      ...(cpu ? MEASURED : []),
      ...[node, ...flags, "--test-reporter-destination=stdout"],
      ...(files.length === 1 ? files : [TOGETHER, ...files]),
    ];
    const stdio = ["ignore", "pipe", "pipe", "pipe", ...(cpu ? ["pipe"] : [])];
    const child = spawn(command, words, { cwd, env, stdio, detached: true });
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
    child.stdio[CPU_FD]?.setEncoding("utf8").on("data", (text) => (times += text));
    createInterface({ input: child.stdio[EVENT_FD] }).on("line", (line) => {
      clearTimeout(silence);
      silence = setTimeout(onSilence, testTimeoutMs + spareMs);
      const event = JSON.parse(line);
      if (event.type === "summary") summary = true;
      if (event.type === "start") running = event.name;
      if (event.type === "stray") fail({ name: `in or after "${running}", outside of it`, error: event.error });
      const outcome = outcomeOf(event);
      if (outcome !== undefined) onTest?.(event);
      if (outcome === "failed") fail(event);
      else if (outcome !== undefined) totals[outcome] += 1;
    });
    child.on("error", (error) => fail({ name: "the file could not be run", error: error.message }));
    // `close` would wait for whatever inherited the streams; a moment is enough to read what was written.
    child.on("exit", (code, died) => {
      clearTimeout(silence);
      signal?.removeEventListener("abort", killAll);
      const leftovers = killAll();
      setTimeout(() => {
        const complaint = endOf({ code, died, hung, summary, running, totals });
        const processes = [{ name: "the tests' own process", state: died ?? `exit code ${code}`, tail: output }];
        if (complaint !== undefined)
          fail({
            name: files.length === 1 ? "the file as a whole" : "these files as a whole",
            error: complaint,
            processes,
          });
        resolve({ totals, output, leftovers: leftovers && !hung, cpuSeconds: secondsOf(times) });
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

/** Its second line is of the children: `1m2.50s 0m3.25s`. */
function secondsOf(times) {
  const parts = [...(times.trim().split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}
