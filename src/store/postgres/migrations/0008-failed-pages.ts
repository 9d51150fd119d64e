/** Which pages of a site failed in a row: a page that fails again is not another one. */
export const failedPages = {
  version: 8,
  name: "failed-pages",
  up: () => 'ALTER TABLE sites ADD COLUMN breaker_pages TEXT COLLATE "C"',
};
