// A shop whose pages changed between two runs of a monitored crawl, and a report of it as a PDF file.
import { createServer } from "node:http";

const KETTLES = {
  copper: [
    "Copper kettle",
    "€ 49.00",
    "Holds 1.7 litres. Made of solid copper, lined with tin.",
    "Out of stock until May.",
  ],
  steel: ["Steel kettle", "€ 29.00", "Holds 1.5 litres. For all stoves, induction included.", "In stock."],
  travel: ["Travel kettle", "€ 19.00", "Holds half a litre, and folds to the size of a cup.", "The last ones."],
};
/** What the shop sells later. */
const LATER = {
  copper: [
    "Copper kettle",
    "€ 44.00",
    "Holds 1.7 litres. Made of solid copper, lined with tin.",
    "In stock, ships tomorrow.",
  ],
  steel: ["Steel kettle", "€ 29.00", "Holds 1.5 litres. For all stoves, induction included.", "In stock."],
  glass: ["Glass kettle", "€ 39.00", "Holds 1.2 litres. One sees the water boil.", "New, in stock."],
};

const page = (title, content) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>${content}</main></body></html>`;

function pageOf(kettles, path) {
  if (path === "/")
    return page(
      "Kettles",
      `<p>Everything that boils water.</p><ul>${Object.entries(kettles)
        .map(([name, [title]]) => `<li><a href="/${name}">${title}</a></li>`)
        .join("")}</ul>`,
    );
  const [title, price, about, stock] = kettles[path.slice(1)] ?? [];
  return title === undefined
    ? null
    : page(
        title,
        `<p class="price">${price}</p><p>${about}</p><p class="stock">${stock}</p><p><a href="/">All kettles</a></p>`,
      );
}

const REPORT = page(
  "Kettles sold in 2025",
  `<p>Prepared by the market's own desk. All numbers are of the shop in the harbour.</p><h2>By kind</h2>
<table border="1" cellpadding="6" style="border-collapse:collapse"><tr><th>Kettle</th><th>Sold</th><th>Revenue</th></tr>
<tr><td>Copper</td><td>412</td><td>€ 20,188</td></tr><tr><td>Steel</td><td>1,960</td><td>€ 56,840</td></tr>
<tr><td>Travel</td><td>731</td><td>€ 13,889</td></tr></table>
<h2>What we learned</h2><ol><li>Copper sells before the holidays.</li><li>Nobody asks for red ones any more.</li></ol>`,
);

export async function makeChanged(work, { ended, listen, host }) {
  const { call, runs, sites } = work;
  const report = await printed(REPORT);
  let kettles = KETTLES;
  const server = createServer((request, response) => {
    if (request.url === "/report-2025.pdf")
      return response.writeHead(200, { "content-type": "application/pdf" }).end(report);
    const body = pageOf(kettles, request.url);
    return response.writeHead(body === null ? 404 : 200, { "content-type": "text/html" }).end(body ?? "no such page");
  });
  await listen(server, 80, host);
  const { port } = server.address();
  const url = `http://market.example${port === 80 ? "" : `:${port}`}/`;
  sites.market = { url, close: () => server.closeAllConnections() || server.close() };
  const job = await call("POST", "/jobs", {
    name: "Kettles",
    kind: "crawl",
    crawl: { url },
    monitor: { what: "text" },
  });
  work.job = job.id;
  for (const sold of [KETTLES, LATER]) {
    kettles = sold;
    const { id } = await call("POST", `/jobs/${job.id}/runs`);
    await ended(call, id);
    while ((await call("GET", `/jobs/runs/${id}`)).monitor === null)
      await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const file = await call("POST", "/runs", {
    name: "The report",
    target_url: `${url}report-2025.pdf`,
    document: { formats: ["markdown"] },
  });
  runs.file = file.id;
  await ended(call, file.id);
}

/** A page as Chromium prints it. */
async function printed(html) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: process.env.ORB_TEST_CHROMIUM, chromiumSandbox: false });
  try {
    const paper = await browser.newPage();
    await paper.setContent(html);
    return await paper.pdf({ format: "A4", tagged: false });
  } finally {
    await browser.close();
  }
}
