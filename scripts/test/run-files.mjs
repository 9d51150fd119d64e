// Runs test files in a separate process and reports the outcome. The process has its own process group, so that a
// hanging file can be killed with everything it started.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EVENT_FD, noTotals, outcomeOf } from "./reporter.mjs";

const REPORTER = fileURLToPath(new URL("./reporter.mjs", import.meta.url));
const TOGETHER = fileURLToPath(new URL("./load-files.mjs", import.meta.url));
const HOOKS = new URL("./hooks.mjs", import.meta.url).href;

const CPU_FD = 4;
/** The shell's `times` covers all children it waited for, recursively. */
const MEASURED = ["sh", "-c", `"$@"; code=$?; times >&${CPU_FD}; exit $code`, "sh"];

/**
 * `only` and `skip` select tests by title. `spareMs` is the time after its limit in which a test may still report its
 * failure; `cpu` measures CPU seconds. `onFailure` is called at once, not at the end.
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
    // No test may exceed its limit, so a longer silence means that the process is stuck: in an endless loop, or on an
    // open handle.
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
    // `close` would wait for every process that inherited the streams; a moment is enough to read the rest.
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

/** A file may also fail outside of its tests. */
function endOf({ code, died, hung, summary, running, totals }) {
  if (hung)
    return summary || running === undefined ? "did not end: something is left open" : `hung in or after "${running}"`;
  if (died !== null) return `ended by ${died} in or after "${running}"`;
  if (!summary) return `ended with exit code ${code} before its tests did, in or after "${running}"`;
  if (code !== 0 && totals.failed === 0) return `ended with exit code ${code} though no test failed`;
  return undefined;
}

/** The second line is about children: `1m2.50s 0m3.25s`. */
function secondsOf(times) {
  const parts = [...(times.trim().split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}
