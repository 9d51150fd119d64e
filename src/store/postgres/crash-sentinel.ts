/**
 * What is done when the server has forgotten something. Outcomes are written without waiting for the disk, so a crash of
 * the server, or a replica in its place, may take back the last moments of what everybody was told is written. Whatever a
 * process remembers of them is then wrong: tasks that it has claimed or ended, lanes that it owns, links that it handed on.
 *
 * So the leases of all processes end with it. Who had some takes none of what it remembers into the next one, and the
 * tasks that were in its hands are done again.
 */
import type { Changes } from "../sql/kernel/connection.ts";
import type { PlainError } from "./errors.ts";

export const TIME = "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now";

/** The time, in every transaction that writes; a division by zero where the server has forgotten something. */
export const TIME_UNLESS_CRASHED = `${TIME}, 1 / count(*) AS whole FROM crash_sentinel`;

const DIVISION_BY_ZERO = "22012";

export function saysCrashed({ code }: PlainError, text: string): boolean {
  return code === DIVISION_BY_ZERO && text === TIME_UNLESS_CRASHED;
}

/** More than anybody was given of any kind in the moments that are gone. */
const NUMBERS_GONE = 1_000_000;

const END_LEASES = [
  "DELETE FROM owners",
  "DELETE FROM budget_permits",
  "UPDATE lanes SET owner = NULL, lease_until = extract(epoch FROM clock_timestamp()) * 1000 WHERE owner IS NOT NULL",
  // No number that somebody may have seen is given to anything else.
  `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + ${NUMBERS_GONE})
     FROM pg_sequences WHERE schemaname = current_schema()`,
  "UPDATE control SET version = version + 1",
];

/** Within a transaction: ends all leases, unless somebody else has done so since. */
export function endLeases(run: (text: string) => Changes): void {
  const { changes } = run("INSERT INTO crash_sentinel VALUES (1) ON CONFLICT DO NOTHING");
  if (changes === 1) for (const text of END_LEASES) run(text);
}
