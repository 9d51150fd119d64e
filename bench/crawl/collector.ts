/** Takes spans as protobuf, in a separate process, and counts them. */
import { createServer } from "node:http";

let calls = 0;
let spans = 0;

/** The messages of a field. */
function* fieldsOf(bytes: Buffer, wanted: number): Generator<Buffer> {
  let at = 0;
  const varint = () => {
    for (let value = 0, factor = 1; ; factor *= 0x80) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    if ((key & 7) !== 2) throw new Error(`a message was expected in field ${key >> 3}`);
    const length = varint();
    if (key >> 3 === wanted) yield bytes.subarray(at, at + length);
    at += length;
  }
}

/** ExportTraceServiceRequest.resource_spans (1), .scope_spans (2), .spans (2) */
function countSpans(body: Buffer): number {
  let count = 0;
  for (const resource of fieldsOf(body, 1))
    for (const scope of fieldsOf(resource, 2)) for (const _ of fieldsOf(scope, 2)) count += 1;
  return count;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => void chunks.push(chunk));
  request.on("end", () => {
    if (request.url === "/v1/traces") {
      calls += 1;
      spans += countSpans(Buffer.concat(chunks));
    }
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});
server.keepAliveTimeout = 60_000;
process.on("message", () => {
  process.send?.({ calls, spans });
  calls = spans = 0;
});
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on("disconnect", () => process.exit());
