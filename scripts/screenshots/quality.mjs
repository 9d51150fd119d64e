// A job whose site changed its layout: four good runs, then a degraded one with a proposed repair.

const BOOKS = 36;

/** The bookshop of the demo changes its layout on request. */
export async function makeDegraded(work, ended) {
  const { call } = work;
  const shop = await call("POST", "/demo-site");
  const crawl = {
    url: shop.url,
    max_pages: BOOKS,
    include: ["/book/**"],
    follow: ["/category/**"],
    fields: {
      title: "article h1",
      author: "article .author",
      price: { css: "article .price", type: "number" },
      pages: { css: "article dd.pages", type: "number" },
      rating: { css: "article .stars", attr: "data-rating", type: "number" },
    },
  };
  const job = await call("POST", "/jobs", { name: "Books", kind: "crawl", crawl });
  work.job = job.id;
  const run = async () => {
    const { id } = await call("POST", `/jobs/${job.id}/runs`);
    await ended(call, id);
    await until(async () => (await call("GET", `/jobs/${job.id}/health`)).runs[0]?.run_id === id);
  };
  for (let good = 0; good < 6; good += 1) await run();
  const { key } = await call("POST", "/keys", { name: "deploy", role: "operator" });
  await fetch(`${work.url}/jobs/${job.id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "orb-client": "cli" },
    body: JSON.stringify({ on_degraded: "pause_schedule", tags: ["shop"] }),
  });
  await fetch(new URL("/layout", shop.url), { method: "POST" });
  await run();
  await until(async () => (await call("GET", `/jobs/${job.id}/health`)).repair === "open");
}

async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 300));
}
