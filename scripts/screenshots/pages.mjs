// The pages to capture. `path` may be a function of the created data (see work.mjs); `ready` is a heading to wait for;
// `prepare` may click and wait; `work` is the kind of data, "busy" if absent.

export const PAGES = [
  { name: "welcome", path: "/", ready: "Overview", work: "empty", whole: false },
  {
    name: "overview",
    path: "/",
    ready: "Overview",
    prepare: async (page) => {
      await page.getByText("Recent failures").waitFor();
      await page.locator(".uplot").first().waitFor();
    },
  },
  {
    name: "runs",
    path: "/runs",
    ready: "Runs",
    prepare: (page) => page.getByRole("row").nth(2).waitFor(),
    whole: false,
  },
  {
    name: "run",
    path: ({ runs }) => `/runs/${runs.shop}`,
    prepare: tabIsThere,
    whole: false,
  },
  {
    name: "run-waiting",
    path: ({ runs }) => `/runs/${runs.library}`,
    prepare: (page) => page.getByText("Rate limited").waitFor(),
    whole: false,
  },
  {
    name: "run-live",
    work: "walled",
    path: ({ runs }) => `/runs/${runs.walled}`,
    prepare: async (page) => {
      await page.getByRole("button", { name: "Open live view" }).click();
      await page.locator("canvas[data-frame]").waitFor();
      const box = await page.locator("canvas").boundingBox();
      // Two of the squares are chosen.
      for (const [x, y] of [
        [640, 260],
        [520, 374],
      ])
        await page.mouse.click(box.x + (x / 1280) * box.width, box.y + (y / 720) * box.height);
      await page.locator("canvas").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "run-pages",
    path: ({ runs }) => `/runs/${runs.shop}?tab=pages&order=slowest`,
    prepare: tabIsThere,
    whole: false,
  },
  { name: "run-configuration", path: ({ runs }) => `/runs/${runs.archive}?tab=configuration`, whole: false },
  {
    name: "run-page",
    path: ({ runs }) => `/runs/${runs.flaky}?tab=pages&status=failed`,
    prepare: async (page) => {
      await page.getByRole("row").nth(1).click();
      await page.getByRole("dialog").getByText("Attempts").waitFor();
    },
    whole: false,
  },
  { name: "run-results", path: ({ runs }) => `/runs/${runs.archive}?tab=results`, prepare: tabIsThere, whole: false },
  {
    name: "run-document",
    path: ({ runs }) => `/runs/${runs.page}?tab=results`,
    prepare: async (page) => {
      await page.getByRole("row").nth(1).click();
      await page.getByRole("dialog", { name: "Record" }).getByRole("region", { name: "Markdown" }).waitFor();
    },
    whole: false,
  },
  {
    name: "run-errors",
    path: ({ runs }) => `/runs/${runs.gallery}?tab=errors`,
    prepare: async (page) => {
      await page.getByRole("img", { name: "Screenshot of the page" }).first().waitFor();
      await page.waitForFunction(() => document.querySelector(".evidence-picture img")?.naturalWidth > 100);
    },
  },
  { name: "jobs", path: "/jobs", ready: "Jobs" },
  {
    name: "quality",
    path: ({ job }) => `/jobs/${job}/quality`,
    ready: "Data quality",
    work: "degraded",
    prepare: (page) => page.getByRole("region", { name: "Repair of price" }).waitFor(),
  },
  {
    name: "versions-of-job",
    path: ({ job }) => `/jobs/${job}/versions`,
    ready: "Versions",
    work: "degraded",
    prepare: (page) => page.getByRole("row").nth(1).waitFor(),
    whole: false,
  },
  {
    name: "changes",
    path: ({ job }) => `/jobs/${job}/changes`,
    ready: "Changes",
    work: "changed",
    prepare: async (page) => {
      const copper = page.getByRole("button", { name: /copper/ });
      await copper.waitFor();
      if ((await copper.getAttribute("aria-expanded")) === "false") await copper.click();
      await page.getByText("ships tomorrow").first().waitFor();
    },
  },
  {
    name: "run-file",
    path: ({ runs }) => `/runs/${runs.file}?tab=results`,
    work: "changed",
    prepare: async (page) => {
      await page.getByRole("row").nth(1).click();
      await page.getByRole("dialog", { name: "Record" }).getByRole("region", { name: "Markdown" }).waitFor();
    },
    whole: false,
  },
  {
    name: "sites",
    path: "/sites",
    ready: "Sites",
    prepare: (page) => page.getByRole("table").waitFor(),
    whole: false,
  },
  {
    name: "site",
    path: ({ sites }) => `/sites/${encodeURIComponent(new URL(sites.magazine.url).host)}`,
    prepare: async (page) => {
      await page.getByRole("heading", { name: "Fetching" }).waitFor();
      await page.locator(".uplot").first().waitFor();
    },
  },
  { name: "proxies", path: "/proxies", ready: "Proxies", prepare: (page) => page.getByRole("table").waitFor() },
  { name: "workers", path: "/workers", ready: "Workers", prepare: (page) => page.getByText("Heartbeat").waitFor() },
  { name: "queue", path: "/queue", ready: "Queue", prepare: (page) => page.getByRole("tabpanel").waitFor() },
  {
    name: "queue-items",
    path: "/queue?tab=items",
    ready: "Queue",
    prepare: (page) => page.getByRole("table").waitFor(),
  },
  { name: "schedules", path: "/schedules", ready: "Schedules", prepare: (page) => page.getByRole("table").waitFor() },
  {
    name: "schedule",
    path: "/schedules",
    ready: "Schedules",
    whole: false,
    prepare: async (page) => {
      await page.getByText("Pulse").click();
      await page.getByRole("list", { name: "Next runs" }).waitFor();
    },
  },
  { name: "settings", path: "/settings", ready: "Settings", prepare: (page) => page.getByText("OK").first().waitFor() },
  {
    name: "settings-configuration",
    path: "/settings?tab=configuration",
    ready: "Settings",
    whole: false,
    // Paths of files differ between machines.
    prepare: (page) => page.getByRole("searchbox", { name: "Search settings" }).fill("crawl"),
  },
  {
    name: "settings-keys",
    path: "/settings?tab=keys",
    ready: "Settings",
    whole: false,
    prepare: (page) => page.getByText("No access keys yet").waitFor(),
  },
  { name: "settings-audit", path: "/settings?tab=audit", ready: "Settings", whole: false, prepare: tabIsThere },
  {
    name: "sites-empty",
    path: "/sites",
    ready: "Sites",
    work: "empty",
    prepare: (page) => page.getByText("No sites yet").waitFor(),
  },
  {
    name: "proxies-empty",
    path: "/proxies",
    ready: "Proxies",
    work: "empty",
    prepare: (page) => page.getByText("No proxies yet").waitFor(),
  },
  {
    name: "schedules-empty",
    path: "/schedules",
    ready: "Schedules",
    work: "empty",
    prepare: (page) => page.getByText("Nothing is scheduled yet").waitFor(),
  },
  { name: "workflows", path: "/workflows", ready: "Workflows", prepare: tabIsThere },
  { name: "workflow-templates", path: "/workflows?tab=templates", ready: "Workflows" },
  {
    name: "workflow",
    path: ({ runs }) => `/workflows/${runs.flow}`,
    prepare: (page) => page.locator("[aria-label=Steps]").first().waitFor(),
    whole: false,
  },
  {
    name: "workflow-failed",
    path: ({ runs }) => `/workflows/${runs.failedFlow}?step=notify`,
    prepare: (page) => page.getByText("1 attempt").waitFor(),
  },
  {
    name: "workflow-recover",
    path: ({ runs }) => `/workflows/${runs.failedFlow}`,
    prepare: async (page) => {
      await page.getByRole("button", { name: "Recover" }).click();
      await page.getByText("will run again").waitFor();
    },
    whole: false,
  },
  { name: "workflow-timeline", path: ({ runs }) => `/workflows/${runs.failedFlow}?tab=timeline` },
  { name: "workflow-results", path: ({ runs }) => `/workflows/${runs.failedFlow}?tab=results` },
  { name: "template", path: "/workflows/templates/image-dataset", ready: "image-dataset" },
  { name: "template-versions", path: "/workflows/templates/papers?tab=versions", ready: "papers" },
  {
    name: "template-edit",
    path: "/workflows/templates/papers?tab=edit",
    ready: "papers",
    prepare: (page) => page.getByText("The definition is valid.").waitFor(),
  },
  {
    name: "new",
    path: ({ sites }) => `/new?url=${encodeURIComponent(sites.magazine.url)}`,
    ready: "New",
    prepare: (page) => page.getByRole("button", { name: "More options" }).click(),
  },
  {
    name: "new-playground",
    // Resizing the page for its screenshot would reload the frame.
    whole: false,
    path: ({ sites }) => `/new?kind=scrape&tab=playground&url=${encodeURIComponent(sites.archive.url)}`,
    ready: "New",
    prepare: async (page, _work, { screen }) => {
      await page.getByRole("button", { name: "Fetch page" }).click();
      const frame = page.frameLocator(".html-frame");
      await frame.locator("h1").click();
      await page.getByText("Added: h1").waitFor();
      await frame.locator(".price").click();
      await page.getByText("Added: p.price").waitFor();
      if (screen === "phone") await page.getByRole("tab", { name: "Fields" }).click();
      await page.locator(".rule-value").nth(1).waitFor();
    },
  },
  {
    name: "new-learn",
    whole: false,
    path: "/new?kind=scrape&tab=playground&mode=examples",
    ready: "New",
    prepare: async (page, { sites }, { screen }) => {
      await page.getByLabel("Page with example values").fill(`${sites.archive.url}1 ${sites.archive.url}2`);
      await page.getByRole("button", { name: "Fetch page" }).click();
      const frame = page.frameLocator(".html-frame");
      for (const number of [1, 2]) {
        await page.getByText(`Page ${number}`, { exact: true }).click();
        await frame.getByText(`no. ${number}`).first().click();
        await page.getByText(new RegExp(`^title: .* no. ${number}$`)).waitFor();
        await frame.locator(".price").click();
        await page.getByText(/^price: €/).waitFor();
      }
      if (screen === "phone") await page.getByRole("tab", { name: "Examples" }).click();
      await page.getByRole("button", { name: "Learn rules" }).click();
      await page.getByRole("group", { name: "Rules of price" }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "new-workflow",
    path: "/new?kind=workflow",
    ready: "New",
    prepare: (page) => page.getByLabel("Template", { exact: true }).waitFor(),
  },
];

function tabIsThere(page) {
  return page.getByRole("row").nth(1).waitFor();
}
