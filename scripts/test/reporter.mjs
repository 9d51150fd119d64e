// Counts and describes test results. As a reporter of node:test (the default export) it runs inside each test file's
// process and writes one JSON line per event to the pipe that scripts/test.mjs gave it: standard output stays the tests'
// own. The rest of this file turns those events into numbers and text.
import { writeSync } from "node:fs";
import { inspect } from "node:util";

export const EVENT_FD = 3;
/** Where scripts/test/hooks.mjs keeps the last output of processes that the running test started. */
export const LAST_LINES = Symbol.for("orb.test.lastLines");
const MOST_LINES = 12;

export default async function* report(source) {
  for await (const event of source) {
    const line = toLine(event);
    if (line !== undefined) writeSync(EVENT_FD, `${JSON.stringify(line)}\n`);
  }
  yield "";
}

function toLine({ type, data }) {
  if (type === "test:summary") return { type: "summary", counts: data.counts };
  // Sent when it starts: `test:start` waits until earlier tests are reported, and thereby for the hooks of its suite.
  if (type === "test:dequeue") return { type: "start", name: data.name };
  // An uncaught error that node:test cannot attribute to a test.
  if (type === "test:diagnostic" && data.message.startsWith("Error: ")) return { type: "stray", error: data.message };
  if (type !== "test:pass" && type !== "test:fail") return undefined;
  return {
    type: type.slice("test:".length),
    name: data.name,
    file: data.file,
    line: data.line,
    ms: data.details?.duration_ms ?? 0,
    /** Of this process and its threads, since its start. */
    cpuMs: (({ user, system }) => (user + system) / 1000)(process.cpuUsage()),
    kind: data.details?.type,
    skipped: Boolean(data.skip) || Boolean(data.todo),
    failureType: data.details?.error?.failureType,
    ...(type === "test:fail"
      ? { error: errorText(data.details?.error), processes: globalThis[LAST_LINES]?.(data.name) ?? [] }
      : {}),
  };
}

function errorText(error) {
  const cause = error?.cause ?? error;
  if (typeof cause === "string") return cause;
  // A failing test often makes the cleanup fail, too: the first error is the reason.
  if (cause instanceof SuppressedError)
    return `${errorText(cause.suppressed)}\nand then, at the end of it:\n${errorText(cause.error)}`;
  return inspect(cause, { depth: 5 });
}

/**
 * What an event adds to the totals; undefined: not a test. A test or suite that failed only because of a nested one is
 * not a second failure; a suite whose own hook threw counts.
 */
export function outcomeOf(event) {
  if (event.type !== "pass" && event.type !== "fail") return undefined;
  if (event.skipped) return "skipped";
  if (event.type === "fail") return event.failureType === "subtestsFailed" ? undefined : "failed";
  return event.kind === "suite" ? undefined : "passed";
}

export const noTotals = () => ({ passed: 0, failed: 0, skipped: 0 });

export function addTotals(sum, more) {
  for (const key of Object.keys(sum)) sum[key] += more[key];
}

/** The line that scripts parse: `12 passed, 0 failed`, plus skipped ones if any. */
export function sentence(totals) {
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
  return `${totals.passed} passed, ${totals.failed} failed${skipped}`;
}

/** Name, location, reason (with its seed, if any), and the last output of processes that the test started. */
export function describeFailure(file, failure) {
  const where = failure.line === undefined ? file : `${file}:${failure.line}`;
  const processes = (failure.processes ?? []).filter(({ tail }) => tail.trim() !== "");
  const ends = processes.map(({ name, state, tail }) => `  last lines of ${name} (${state}):\n${lastLines(tail)}\n`);
  return `\n✖ ${failure.name}\n  ${where}\n${failure.error.replace(/^/gm, "    ")}\n${ends.join("")}`;
}

function lastLines(text) {
  return text.trimEnd().split("\n").slice(-MOST_LINES).join("\n").replace(/^/gm, "    | ");
}
