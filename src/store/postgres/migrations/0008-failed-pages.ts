/** The failed pages that a breaker counts: a page that fails again counts once. */
export const failedPages = {
  version: 8,
  name: "failed-pages",
  up: () => 'ALTER TABLE sites ADD COLUMN breaker_pages TEXT COLLATE "C"',
};
