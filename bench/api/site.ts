/** A slow site in a separate process: every page answers after half a second. */
import { createServer } from "node:http";

const body = `<!doctype html><title>A page</title><article><h1>A page</h1>${"<p>Some words that a reader can read.</p>".repeat(40)}</article>`;
const server = createServer((_request, response) => {
  setTimeout(() => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": Buffer.byteLength(body) });
    response.end(body);
  }, 500);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as { port: number }).port));
process.on("disconnect", () => process.exit());
