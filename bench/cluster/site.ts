/**
 * Sites in a separate process, each on its own port: `node site.ts SITES PAGES LATENCY_MS`. The first page of a site
 * links to all others, and every page is unique.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Messages from and to the benchmark: `hit` only after `tell`, `count` on request. */
export type SiteQuestion = "count" | "tell";
export type SiteWord =
  | { ports: number[] }
  | { hit: string; at: number }
  | { count: { total: number; by: Record<string, number>; mostAtOnce: number } };

const [sites = 1, pages = 1, latencyMs = 0] = process.argv.slice(2).map(Number);
const say = (word: SiteWord) => process.send?.(word);

let total = 0;
let open = 0;
let mostAtOnce = 0;
let telling = false;
const by: Record<string, number> = {};

const links = Array.from({ length: pages - 1 }, (_, page) => `<a href="/page/${page + 1}">${page + 1}</a>`).join(" ");

function bodyOf(port: number, path: string): string {
  const text = Array.from({ length: 20 }, (_, line) => `<p>Line ${line} of the page at ${path} of site ${port}.</p>`);
  return `<!doctype html><title>${path} of ${port}</title><article>${text.join("")}</article>${path === "/" ? links : ""}`;
}

function answer(response: ServerResponse, body: string): void {
  open -= 1;
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    // The machine's monotonic clock, which the benchmark reads as well.
    const at = Number(process.hrtime.bigint()) / 1e6;
    const path = request.url ?? "/";
    const who = /\(([^)]*)\)/.exec(request.headers["user-agent"] ?? "")?.[1] ?? "";
    total += 1;
    by[who] = (by[who] ?? 0) + 1;
    open += 1;
    mostAtOnce = Math.max(mostAtOnce, open);
    if (telling) say({ hit: path, at });
    const body = bodyOf((server.address() as AddressInfo).port, path);
    if (latencyMs === 0) answer(response, body);
    else setTimeout(() => answer(response, body), latencyMs);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const ports: number[] = [];
for (let site = 0; site < sites; site += 1) ports.push(await listen());
process.on("message", (question: SiteQuestion) => {
  if (question === "tell") telling = true;
  else say({ count: { total, by, mostAtOnce } });
});
process.on("disconnect", () => process.exit());
say({ ports });
