/**
 * Recovery after a crash of the database server. Outcomes are committed without waiting for the disk, so a crash, or a
 * failover to a replica, may undo the last commits that were already reported. What processes remember of them is then
 * wrong: claimed or ended tasks, owned lanes, forwarded links.
 *
 * So the crash ends the leases of all processes. Former owners keep no state for their next lease, and their running
 * tasks are executed again.
 */
import type { Changes } from "../sql/kernel/connection.ts";
import type { PlainError } from "./errors.ts";

export const TIME = "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now";

/**
 * The time, read in every write transaction; divides by zero after a crash, which empties the unlogged sentinel table.
 */
export const TIME_UNLESS_CRASHED = `${TIME}, 1 / count(*) AS whole FROM crash_sentinel`;

const DIVISION_BY_ZERO = "22012";

export function saysCrashed({ code }: PlainError, text: string): boolean {
  return code === DIVISION_BY_ZERO && text === TIME_UNLESS_CRASHED;
}

/** More numbers than any sequence assigned in the lost commits. */
const SEQUENCE_GAP = 1_000_000;

const END_LEASES = [
  "DELETE FROM owners",
  "DELETE FROM budget_permits",
  "UPDATE lanes SET owner = NULL, lease_until = extract(epoch FROM clock_timestamp()) * 1000 WHERE owner IS NOT NULL",
  // A number that was visible before the crash is never reused.
  `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + ${SEQUENCE_GAP})
     FROM pg_sequences WHERE schemaname = current_schema()`,
  "UPDATE control SET version = version + 1",
];

/** Within a transaction: ends all leases, unless another process has done so. */
export function endLeases(run: (text: string) => Changes): void {
  const { changes } = run("INSERT INTO crash_sentinel VALUES (1) ON CONFLICT DO NOTHING");
  if (changes === 1) for (const text of END_LEASES) run(text);
}
