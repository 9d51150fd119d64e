/** A small JavaScript-rendered site in a separate process: a page, its script, and its data. */
import { createServer } from "node:http";

const page = (n: string) => `<!doctype html><html><head><title>Item ${n}</title></head><body><div id="root"></div>
<script src="/app.js"></script></body></html>`;
const app = `fetch("/data" + location.pathname).then((r) => r.json()).then((item) => {
  document.getElementById("root").innerHTML = "<h1>" + item.name + "</h1><ul>" +
    item.parts.map((part) => "<li class=part>" + part + "</li>").join("") + "</ul>";
});`;

const server = createServer((request, response) => {
  const path = request.url ?? "/";
  const send = (type: string, body: string) => {
    response.writeHead(200, { "content-type": type, "content-length": Buffer.byteLength(body) });
    response.end(body);
  };
  if (path === "/app.js") return send("text/javascript", app);
  if (path.startsWith("/data/")) {
    const parts = Array.from({ length: 40 }, (_, index) => `part ${index} of ${path}`);
    return send("application/json", JSON.stringify({ name: path, parts }));
  }
  return send("text/html; charset=utf-8", page(path));
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as { port: number }).port));
process.on("disconnect", () => process.exit());
