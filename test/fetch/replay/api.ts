import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ApiCall {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Respond = (call: ApiCall, url: URL, response: ServerResponse) => unknown;

export interface Api extends AsyncDisposable {
  url(path: string): string;
  readonly origin: string;
  readonly calls: ApiCall[];
}

/** A site with an API: what `respond` returns is sent as JSON, unless it has answered by itself. */
export async function startApi(respond: Respond): Promise<Api> {
  const calls: ApiCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const call = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      calls.push(call);
      const value = respond(call, new URL(call.path, "http://api.example"), response);
      if (response.headersSent || value === undefined) return;
      if (!response.hasHeader("content-type")) response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    calls,
    origin,
    url: (path) => origin + path,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { "content-type": type });
  response.end(text);
}
