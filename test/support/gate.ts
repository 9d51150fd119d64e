/**
 * For suites that need something the machine may lack (a browser, a database server). On a laptop they are skipped,
 * loudly; with CI=true they fail, because a suite that never runs protects nobody.
 */
export function gate(name: string, available: boolean, why: string): { skip?: string } {
  if (available) return {};
  if (process.env["CI"] === "true") throw new Error(`${name} cannot run: ${why}`);
  process.stderr.write(`SKIPPED  ${name}: ${why}\n`);
  return { skip: why };
}

/** For what CI does not install either: skipped loudly everywhere. */
export function optionalGate(name: string, available: boolean, why: string): { skip?: string } {
  if (available) return {};
  process.stderr.write(`SKIPPED  ${name}: ${why}\n`);
  return { skip: why };
}

/** `npm run test:full`: numbers are as large as they are meant, not as large as every change can wait for. */
export const FULL = process.env["ORB_TEST_FULL"] === "1";

/** Long tests run with `npm run test:full` only. */
export const fullOnly: { skip?: string } = FULL ? {} : { skip: "long: runs with npm run test:full" };
