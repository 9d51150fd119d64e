// Loaded before each test file.
import childProcess from "node:child_process";
import hooks from "node:async_hooks";
import { closeSync, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { isMainThread } from "node:worker_threads";
import { LAST_LINES } from "./reporter.mjs";

const KEPT_BYTES = 4096;
const MOST_PROCESSES = 6;

// Threads and processes that a test starts inherit the flags.
if (isMainThread && /(?:\.test\.ts|load-files\.mjs)$/.test(process.argv[1] ?? "")) {
  // node:test tracks every promise of the process to attribute an uncaught error to a test; files that await much spend
  // a third of their time on that. Without it such an error may be reported as the file's, and still fails the run.
  const { createHook } = hooks;
  hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
  const { afterEach, beforeEach } = await import("node:test");
  hooks.createHook = createHook;
  const processes = rememberProcesses();
  // The reporter sees a failure only after the next test has started.
  afterEach(({ name, error }) => {
    if (error) processes.keep(name);
  });
  beforeEach(() => {
    processes.forget();
    // Tests without any await would follow each other without yielding to the reporter, and look like one that hangs.
    return new Promise((resolve) => setImmediate(resolve));
  });
}

/** Keeps the last output of every process that a test starts, for the report of a failure. */
function rememberProcesses() {
  let known = [];
  const kept = new Map();
  const now = () => known.map(({ name, child, tail }) => ({ name, state: stateOf(child), tail: tail() }));
  const { spawn } = childProcess;
  childProcess.spawn = (...args) => {
    const child = spawn(...args);
    known.push(watched(child, args));
    // Drop ended ones first: running ones more likely belong to the failure.
    if (known.length > MOST_PROCESSES)
      known.splice(
        Math.max(
          0,
          known.findIndex((one) => hasEnded(one.child)),
        ),
        1,
      );
    return child;
  };
  syncBuiltinESMExports();
  globalThis[LAST_LINES] = (test) => kept.get(test) ?? now();
  return {
    keep: (test) => kept.set(test, now()),
    // Processes started for all tests of a file still run.
    forget: () => (known = known.filter(({ child }) => !hasEnded(child))),
  };
}

const hasEnded = ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null;

function watched(child, [command, words]) {
  const name = [command, ...(Array.isArray(words) ? words : [])].map((word) => basename(String(word))).join(" ");
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    // A listener would start the stream's flow, and take data from a later reader.
    const push = stream.push;
    stream.push = function (chunk, ...rest) {
      if (chunk !== null) text = (text + String(chunk)).slice(-KEPT_BYTES);
      return push.call(this, chunk, ...rest);
    };
  }
  const file = text === "" ? logFileOf(child) : null;
  return { name: name.slice(0, 120), child, tail: () => (file === null ? text : endOf(file)) };
}

/** The file used as the process's standard error. */
function logFileOf({ pid }) {
  try {
    const path = readlinkSync(`/proc/${pid}/fd/2`);
    return path.startsWith("/") && !path.startsWith("/dev/") ? path : null;
  } catch {
    return null;
  }
}

function endOf(path) {
  let file;
  try {
    file = openSync(path, "r");
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, KEPT_BYTES));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString();
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function stateOf({ pid, exitCode, signalCode }) {
  if (signalCode !== null) return `${pid}, ended by ${signalCode}`;
  return exitCode === null ? `${pid}, running` : `${pid}, exit code ${exitCode}`;
}
