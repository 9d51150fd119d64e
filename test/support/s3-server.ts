import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { tempDir } from "./temp-dir.ts";

interface S3rver {
  run(): Promise<AddressInfo>;
  httpServer: Server;
}
type MakeS3rver = new (options: {
  address: string;
  port: number;
  silent: boolean;
  directory: string;
  configureBuckets: { name: string }[];
}) => S3rver;

// It is written for `require`, and has no types.
const S3rver = createRequire(import.meta.url)("@20minutes/s3rver") as MakeS3rver;

/** What the server takes as a key. */
export const S3_KEY = { accessKeyId: "id-of-the-test", secretAccessKey: "very-secret-of-the-test" };
const accounts = createRequire(import.meta.url)("@20minutes/s3rver/lib/models/account") as {
  DUMMY_ACCOUNT: { createKeyPair(id: string, secret: string): void };
};
accounts.DUMMY_ACCOUNT.createKeyPair(S3_KEY.accessKeyId, S3_KEY.secretAccessKey);
export const BUCKET = "orb-test";
const SUFFIX = "._S3rver_object";

/** A small S3 server with one bucket, on a port and in a folder of its own. */
export class S3Server implements AsyncDisposable {
  readonly #folder = tempDir();
  #server: S3rver | null = null;
  #port = 0;

  static async start(): Promise<S3Server> {
    const server = new S3Server();
    await server.start();
    return server;
  }

  /** On the port that it had before. */
  async start(): Promise<void> {
    this.#server = new S3rver({
      address: "127.0.0.1",
      port: this.#port,
      silent: true,
      directory: this.#folder.path,
      configureBuckets: [{ name: BUCKET }],
    });
    this.#port = (await this.#server.run()).port;
  }

  async stop(): Promise<void> {
    const server = this.#server?.httpServer;
    this.#server = null;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The configuration of somebody who keeps files here. */
  env(prefix = "files"): Record<string, string> {
    return {
      APP_ARTIFACTS_URL: `s3://${BUCKET}/${prefix}`,
      APP_S3_ENDPOINT: this.endpoint,
      APP_S3_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      APP_S3_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    };
  }

  keys(): string[] {
    return readdirSync(join(this.#folder.path, BUCKET), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .toSorted();
  }

  /** Every object whose key has this in it was stored two hours ago. */
  age(part: string): void {
    for (const path of this.#objects(part)) {
      const { mtimeMs } = statSync(path);
      utimesSync(path, mtimeMs / 1000 - 7200, mtimeMs / 1000 - 7200);
    }
  }

  /** Changes what is stored. */
  overwrite(part: string, bytes: Buffer): void {
    for (const path of this.#objects(part)) writeFileSync(path, bytes);
  }

  #objects(part: string): string[] {
    const chosen = this.keys().filter((key) => key.includes(part));
    return chosen.map((key) => join(this.#folder.path, BUCKET, key + SUFFIX));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#folder[Symbol.dispose]();
  }
}
