// npm run test:soak [-- --rounds N] [--hogs K] [--tier fast|rest|all] [part of a file name …]: runs a tier N times
// beside K busy loops, each time with another seed, and lists every test that failed in any round. Such a test points
// to a bug, not to a timeout to raise.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, run, script } from "./bootstrap.mjs";
import { sentence } from "./test/reporter.mjs";

const OPTIONS = {
  rounds: { type: "string", default: "5" },
  hogs: { type: "string", default: "0" },
  tier: { type: "string", default: "fast" },
};

await script(async (args) => {
  const { values, positionals: names } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const rounds = wholeNumber("rounds", values.rounds, 1);
  const hogs = Array.from({ length: wholeNumber("hogs", values.hogs, 0) }, startHog);
  const folder = mkdtempSync(join(tmpdir(), "orb-soak-"));
  const stop = () => hogs.forEach((hog) => hog.kill("SIGKILL"));
  process.once("exit", stop);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());
  const failures = new Map();
  const lines = [];
  try {
    for (let round = 1; round <= rounds && !interrupted.signal.aborted; round += 1) {
      const path = join(folder, `round-${round}.jsonl`);
      const began = Date.now();
      const words = [join(root, "scripts", "test.mjs"), "--tier", values.tier, ...names];
      const seed = process.env.ORB_TEST_SEED ?? String(randomInt(2 ** 31));
      const env = { ...process.env, ORB_TEST_RECORD: path, ORB_TEST_SEED: seed };
      const code = await run(process.execPath, words, { env });
      const entries = readRecord(path);
      for (const { failed, place } of entries.filter((entry) => entry.failed !== undefined)) {
        const key = `${failed}\n    ${place}`;
        failures.set(key, [...(failures.get(key) ?? []), round]);
      }
      const totals = entries.find((entry) => entry.totals !== undefined)?.totals;
      const seconds = ((Date.now() - began) / 1000).toFixed(0);
      lines.push(
        `round ${round}: ${totals === undefined ? "did not end" : sentence(totals)} (exit code ${code}, ${seconds} s, ORB_TEST_SEED=${seed})`,
      );
      process.stdout.write(`\n── ${lines.at(-1)}\n\n`);
    }
  } finally {
    stop();
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`\n${lines.join("\n")}\n`);
  for (const [key, where] of failures) process.stdout.write(`✖ ${key}\n    failed in round ${where.join(", ")}\n`);
  const isGreen = lines.length === rounds && lines.every((line) => line.includes("exit code 0"));
  process.stdout.write(isGreen ? "every round passed\n" : `${failures.size} tests failed at least once\n`);
  return isGreen ? 0 : 1;
});

/** Occupies one core. Ends with this process, also when that is killed. */
function startHog() {
  const loop = `process.stdin.on("end", () => process.exit()).resume(); setInterval(() => { for (const until = Date.now() + 50; Date.now() < until;); }, 0);`;
  return spawn(process.execPath, ["--eval", loop], { stdio: ["pipe", "ignore", "ignore"] });
}

function readRecord(path) {
  try {
    return readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

function wholeNumber(name, text, least) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least) return number;
  throw new Error(`--${name}: expected a whole number, ${least} or more`);
}
