import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PATIENCE_MS } from "./patience.ts";

export interface ReceivedAlert {
  id: string;
  kind: string;
  subject: string;
  message: string;
  detail: Record<string, unknown> | null;
  created_at: string;
}

export const WEBHOOK_SECRET = "receiver-secret-0123456789";

/** Whoever an operator lets alerts be sent to: a real server, in a network that targets may not be in. */
export class AlertReceiver implements AsyncDisposable {
  readonly received: ReceivedAlert[] = [];
  /** What the next ones are answered with; when it is empty, they are taken. `hang`: no answer at all. */
  readonly answers: (number | "hang")[] = [];
  readonly #server: Server;
  #heard = Promise.withResolvers<void>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<AlertReceiver> {
    const server = createServer();
    const receiver = new AlertReceiver(server);
    server.on("request", (request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        receiver.#hear(body, request.headers);
        const answer = receiver.answers.shift() ?? 204;
        if (answer !== "hang") response.writeHead(answer).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.3", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.3:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  get env(): Record<string, string> {
    return { APP_ALERT_WEBHOOK_URL: this.url, APP_WEBHOOK_SECRET: WEBHOOK_SECRET };
  }

  of(kind: string): ReceivedAlert[] {
    return this.received.filter((alert) => alert.kind === kind);
  }

  /** Resolves when what was received is as it should be. */
  async until(enough: () => boolean, what: string): Promise<void> {
    const late = setTimeout(() => this.#heard.reject(new Error(`in vain for ${what}: ${this.#story()}`)), PATIENCE_MS);
    try {
      while (!enough()) await this.#heard.promise;
    } finally {
      clearTimeout(late);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #story(): string {
    return JSON.stringify(this.received.map(({ kind, subject, id }) => [kind, subject, id]));
  }

  /** Every one must be signed by whoever knows the secret. */
  #hear(body: string, headers: NodeJS.Dict<string | string[]>): void {
    const alert = JSON.parse(body) as ReceivedAlert;
    const signed = `${String(headers["x-orb-timestamp"])}.${body}`;
    const signature = `sha256=${createHmac("sha256", WEBHOOK_SECRET).update(signed).digest("hex")}`;
    const heard = this.#heard;
    this.#heard = Promise.withResolvers();
    try {
      assert.equal(headers["x-orb-signature"], signature);
      assert.equal(headers["x-orb-id"], alert.id);
      this.received.push(alert);
      heard.resolve();
    } catch (error) {
      heard.reject(error as Error);
    }
  }
}
