/** What commands would really do: a shell reads them, `orb` and `curl` are asked what they would send. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Seal } from "../../src/base/seal.ts";
import { readFile } from "../../src/cli/files.ts";
import { runCli } from "../../src/cli/program.ts";
import type { Wiring } from "../../src/cli/wiring.ts";
import { loadConfig } from "../../src/config/load.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";

export interface Called {
  program: string;
  args: string[];
  input: string;
}

/** Gives the text to a shell in which `orb` and `curl` only say what they were called with. */
export function asShell(text: string): Called {
  const say = (name: string) => `${name}() { printf '%s\\0' ${name} "$@"; printf '\\1'; [ -t 0 ] || cat; }`;
  const { stdout, stderr, status } = spawnSync("sh", ["-c", `${say("orb")}\n${say("curl")}\n${text}\n`], {
    input: "",
    encoding: "utf8",
    env: { PATH: process.env["PATH"], APP_API_TOKEN: "the-token" },
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, "");
  const end = stdout.indexOf("\0\u0001");
  const [program = "", ...args] = stdout.slice(0, end).split("\0");
  return { program, args, input: stdout.slice(end + 2) };
}

export interface Sent {
  method: string;
  path: string;
  type: string;
  body: string;
}

/** A server that writes down what it is sent, and answers so little that the command gives up. */
export class Recorder implements AsyncDisposable {
  readonly sent: Sent[] = [];
  readonly #server = createServer((request, response) => {
    void read(request).then((body) => {
      const { method = "", url: path = "" } = request;
      this.sent.push({ method, path, type: request.headers["content-type"] ?? "", body });
      const answer = this.answers[`${method} ${path}`];
      response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer ?? { code: "not_found", title: "nothing", detail: "nothing", status: 404 }));
    });
  });
  readonly answers: Record<string, unknown> = {};

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The last body that something was to be changed with. */
  get body(): unknown {
    const last = this.sent.findLast(({ method }) => method !== "GET");
    assert.ok(last !== undefined, "something was sent");
    return JSON.parse(last.body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Closes nothing, so that what was given to it can be compared. */
const OPEN_SEAL: Seal = {
  close: (value) => Buffer.from(JSON.stringify(value)),
  open: (sealed) => JSON.parse(Buffer.from(sealed).toString("utf8")) as unknown,
  mark: (text) => text,
};

export const CHECKS = {
  clock: systemClock,
  random: systemRandom,
  seal: OPEN_SEAL,
  policy: parseAddressPolicy(["127.0.0.0/8"]),
  extractors: { llm: false, named: async () => [] },
};

/** Runs `orb` in this process. */
export async function asOrb({ args, input }: Called): Promise<{ stderr: string }> {
  let stderr = "";
  const wiring: Partial<Wiring> = {
    terminal: { out: () => {}, err: (text: string) => void (stderr += text), live: false, colour: false },
    loadConfig: () => loadConfig({ env: {}, cwd: "/nonexistent" }),
    openFile: (path) => (path === "-" ? once(input) : readFile(path)),
    refuseUnwritable: async () => {},
    now: () => systemClock.now(),
    onSignals: () => () => {},
    onHangUp: () => () => {},
  };
  await runCli(args, wiring as Wiring, "1.2.3");
  return { stderr };
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** What curl was asked to send. */
export function asCurl({ args, input }: Called): Sent {
  const sent: Sent = { method: "POST", path: "", type: "", body: "" };
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "-X") sent.method = rest.shift() ?? "";
    else if (word === "-H") {
      const [name, value] = (rest.shift() ?? "").split(": ");
      if (name === "Content-Type") sent.type = value ?? "";
      else assert.deepEqual([name, value], ["Authorization", "Bearer the-token"]);
    } else if (word === "-d") sent.body = rest.shift() ?? "";
    else if (word === "--data-binary") {
      assert.equal(rest.shift(), "@-");
      sent.body = input;
    } else sent.path = new URL(word).pathname;
  }
  return sent;
}
