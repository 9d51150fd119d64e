/** The server's time, from its Date headers: the browser's clock may be wrong, and timestamps come from the server. */

let ahead = 0;

export const serverNow = (): number => Date.now() + ahead;

/** Called with every response. */
export function noteServerTime(date: string | null, sentAt: number, receivedAt: number): void {
  ahead = aheadOf(date, sentAt, receivedAt) ?? ahead;
}

/**
 * Minimum offset of the server's clock; null: unknown. The Date header has a resolution of one second, and the response
 * was created between request and arrival: while both clocks may be right, the offset is 0.
 */
export function aheadOf(date: string | null, sentAt: number, receivedAt: number): number | null {
  const second = Date.parse(date ?? "");
  if (Number.isNaN(second)) return null;
  const least = second - receivedAt;
  const most = second + 1000 - sentAt;
  return least > 0 ? least : most < 0 ? most : 0;
}
