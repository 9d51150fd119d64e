/** What the pages of a job change on their own, beside what is known of each page. */
export const monitorProfiles = {
  version: 25,
  name: "monitor profiles",
  // They would take the places of a page's lines for text.
  olderMayRun: false,
  up: () => `
    ALTER TABLE monitors ADD COLUMN profile TEXT COLLATE "C";
  `,
};
