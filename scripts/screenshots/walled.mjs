// A run that waits for a person: its site asks visitors to choose three pictures.
import { createServer } from "node:http";

const SHAPES = ["▲", "■", "●", "■", "◆", "▲", "●", "◆", "■"];

const WALL = `<!doctype html><html lang="en"><head><title>Just a moment</title></head>
<body style="margin:0;font:17px system-ui,sans-serif;background:#f2f4f7;color:#1d2733">
<main style="max-width:420px;margin:56px auto;padding:28px 32px;background:#fff;border-radius:14px;box-shadow:0 4px 24px #0002">
<h1 style="margin:0 0 6px;font-size:24px">Almost there</h1>
<p style="margin:0 0 18px">Please verify that you are not a robot: choose the three squares.</p>
<div style="display:grid;grid-template-columns:repeat(3,1fr);gap:10px">${SHAPES.map(
  (shape) =>
    `<button style="height:104px;font-size:46px;border:2px solid #c9d1db;border-radius:10px;background:#f8fafc;color:#2f6f8f">${shape}</button>`,
).join("")}</div><p style="margin:18px 0 0;color:#667">Reference: 8f3a-17</p></main>
<script>for (const b of document.querySelectorAll("button")) b.onclick = () => { b.style.borderColor = "#2f6f8f"; b.style.background = "#dceef6"; };</script>
</body></html>`;

export async function startWalledSite(listen, host) {
  const server = createServer((request, response) => {
    if (request.url === "/robots.txt")
      return response.writeHead(200, { "content-type": "text/plain" }).end("User-agent: *\nAllow: /\n");
    return response.writeHead(403, { "content-type": "text/html; charset=utf-8" }).end(WALL);
  });
  await listen(server, 80, host);
  return { port: server.address().port, close: () => server.closeAllConnections() || server.close() };
}

export async function makeWalled({ call, runs, sites }) {
  const { id } = await call("POST", "/runs", {
    name: "Opening hours",
    target_url: `${sites.walled.url}hours`,
    strategy: "browser",
  });
  runs.walled = id;
  for (;;) {
    const { status } = await call("GET", `/jobs/runs/${id}`);
    if (status === "waiting_for_human") return;
    if (["completed", "failed", "cancelled"].includes(status)) throw new Error(`the walled run is ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
