import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Firecrawl } from "@mendable/firecrawl-js";
import { PATIENCE_MS } from "../support/patience.ts";

export const clientOf = (url: string, apiKey = "any-key") => new Firecrawl({ apiKey, apiUrl: url });

export interface Heard {
  headers: IncomingHttpHeaders;
  text: string;
  body: {
    success: boolean;
    type: string;
    id: string;
    webhookId: string;
    data: { metadata: Record<string, unknown>; markdown?: string }[];
    error?: string;
    metadata: Record<string, unknown>;
  };
}

/** A program that is told of crawls. */
export class Receiver implements AsyncDisposable {
  readonly heard: Heard[] = [];
  /** What the next calls are answered with; when it is empty, they are taken. */
  readonly answers: number[] = [];
  readonly #server: Server;
  #news = Promise.withResolvers<void>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on("request", (request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (part: string) => (text += part));
      request.on("end", () => {
        const answer = receiver.answers.shift() ?? 200;
        if (answer === 200)
          receiver.heard.push({ headers: request.headers, text, body: JSON.parse(text) as Heard["body"] });
        response.writeHead(answer).end();
        receiver.#news.resolve();
        receiver.#news = Promise.withResolvers();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.2:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Resolves when what was heard is as it should be. */
  async until(enough: () => boolean): Promise<void> {
    const late = setTimeout(
      () => this.#news.reject(new Error(`in vain; heard ${JSON.stringify(this.types)}`)),
      PATIENCE_MS,
    );
    try {
      while (!enough()) await this.#news.promise;
    } finally {
      clearTimeout(late);
    }
  }

  get types(): string[] {
    return this.heard.map(({ body }) => body.type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** What a call is refused with. */
export async function refused(
  call: Promise<unknown>,
): Promise<{ status?: number; statusCode?: number; message: string; code?: string; details?: unknown }> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was not refused");
}
