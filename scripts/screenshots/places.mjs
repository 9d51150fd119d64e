// Data for the pages of sites, proxies, the queue and schedules.

export async function addPlaces({ call, sites, proxyPort }) {
  const host = (name) => encodeURIComponent(new URL(sites[name].url).host);
  await call("PATCH", `/sites/${host("archive")}`, { requests_per_second: 2, burst: 4, strategy: "http" });
  await call("PATCH", "/sites/images.example", { group: "example", max_concurrency: 6 });
  await call("PATCH", "/sites/www.example", { group: "example" });
  await call("POST", "/sites/images.example/pause");
  await call("POST", "/proxies", {
    proxies: [
      `http://north.proxies.example:${proxyPort}`,
      "socks5://user:password@south.proxies.example:1080",
      "http://east.proxies.example:3128",
      `http://west.proxies.example:${proxyPort}`,
    ],
  });
  const { proxies } = await call("GET", "/proxies");
  await call("POST", `/proxies/${proxies.find((proxy) => JSON.stringify(proxy).includes("east.")).id}/disable`);
  await call("POST", "/queue/items", {
    items: Array.from({ length: 24 }, (_, number) => ({
      artifact_id: `report-${2000 + number}`,
      url: `${sites.archive.url}${number * 7}`,
      concurrency_key: number % 2 === 0 ? "reports" : "archive",
      priority: number % 3,
    })),
  });
  await call("PUT", "/queue/concurrency-keys/reports", { limit: 3 });
  const job = (name, target, schedule) => call("POST", "/jobs", { name, target_url: sites[target].url, schedule });
  const front = await job("Front page of the magazine", "magazine", { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" });
  const prices = await job("Prices of the shop", "shop", {
    cron: "*/15 * * * *",
    timezone: "America/New_York",
    overlap: "queue",
  });
  const weekly = await job("Archive, once a week", "archive", { cron: "30 6 * * 0", timezone: "Asia/Tokyo" });
  await call("POST", `/schedules/${weekly.id}/pause`);
  for (const { id } of [front, prices, weekly]) await call("POST", `/jobs/${id}/runs`);
  // Soon enough to have run.
  await job("Pulse", "archive", { cron: "* * * * *", overlap: "skip" });
}
