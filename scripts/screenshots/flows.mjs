// Workflows for screenshots.

/** One failed workflow, one running; a template in two versions. */
export async function runFlows({ call, sites, runs, ended }) {
  const page = (number) => `${sites.archive.url}${number}`;
  const read = (name, numbers, more = {}) => ({
    name,
    task_type: "scrape",
    params: { urls: numbers.map(page), fields: { title: "h1", price: ".price" } },
    ...more,
  });
  const papers = {
    name: "Papers",
    description: "Reads a few pages, exports them as tables and sends a webhook.",
    params: {
      type: "object",
      properties: { hook: { type: "string", description: "Webhook URL." } },
      required: ["hook"],
    },
    steps: [
      read("read", [1, 2, 3, 4, 5]),
      read("prices", [6, 7, 8]),
      { name: "download", task_type: "download", dependencies: ["read"] },
      { name: "table", task_type: "export", params: { format: "csv" }, dependencies: ["read", "prices"] },
      { name: "pictures", task_type: "export", params: { format: "jsonl" }, dependencies: ["download"] },
      {
        name: "notify",
        task_type: "webhook",
        params: { url: "${{ params.hook }}", body: { count: "${{ steps.table.output.count }}" } },
        dependencies: ["table", "pictures"],
        max_retries: 0,
      },
      { name: "archive", task_type: "export", params: { format: "json" }, dependencies: ["notify", "prices"] },
    ],
  };
  const template = (definition) => call("PUT", "/workflows/templates/papers", { definition });
  await template({ ...papers, steps: papers.steps.slice(0, 5) });
  await template(papers);
  const started = await call("POST", "/workflows", {
    template: "papers",
    params: { hook: new URL("/none/100000", sites.archive.url).href },
  });
  runs.failedFlow = started.id;
  await ended(started.id);
  // Slow enough to be running when its screenshot is taken.
  const list = Array.from({ length: 90 }, (_, number) => number + 1);
  const { id } = await call("POST", "/workflows", {
    definition: {
      name: "Catalogue of the shop",
      steps: [
        read("front pages", [1, 2, 3]),
        {
          name: "each page",
          task_type: "scrape",
          params: { url: `${sites.atlas.url}\${{ item }}`, fields: ["title"] },
          for_each: { in: list, on_error: "continue", concurrency: 2 },
          dependencies: ["front pages"],
        },
        { name: "short list", task_type: "export", params: { format: "csv" }, dependencies: ["front pages"] },
        { name: "table", task_type: "export", params: { format: "csv" }, dependencies: ["each page"] },
        {
          name: "notify",
          task_type: "webhook",
          params: { url: page(1) },
          dependencies: ["table", "short list"],
        },
      ],
    },
  });
  runs.flow = id;
}
