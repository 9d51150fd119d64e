/** A small static server in a separate process: /f/N answers 1 KiB that depends on N. */
import { createServer } from "node:http";

const filler = Buffer.alloc(1024, "orbweaver ");
const server = createServer((request, response) => {
  const body = Buffer.from(filler);
  body.write(`${request.url}\n`);
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": body.length });
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as { port: number }).port));
process.on("disconnect", () => process.exit());
