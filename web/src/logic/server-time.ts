/** The time of the server, by what its answers say: the clock of the browser may be wrong, and moments are compared with those of the server. */

let ahead = 0;

/** Now, where the server is. */
export const serverNow = (): number => Date.now() + ahead;

/** Heard with every answer. */
export function hearTime(date: string | null, sentAt: number, receivedAt: number): void {
  ahead = aheadOf(date, sentAt, receivedAt) ?? ahead;
}

/**
 * By how much the server's clock is ahead of the browser's at least; null: it was not said. The answer says a second, in which it was
 * made, and it was made between its request and its arrival: as long as both clocks may be right, they are.
 */
export function aheadOf(date: string | null, sentAt: number, receivedAt: number): number | null {
  const second = Date.parse(date ?? "");
  if (Number.isNaN(second)) return null;
  const least = second - receivedAt;
  const most = second + 1000 - sentAt;
  return least > 0 ? least : most < 0 ? most : 0;
}
