/** Assumed memory of a page where it cannot be measured. */
export const PAGE_BYTES = 300 * 1024 * 1024;

/** How many pages may be open at once on a machine with this much free memory. */
export function pagesForMemory(freeBytes: number): number {
  return Math.max(1, Math.min(8, Math.floor(freeBytes / PAGE_BYTES)));
}
