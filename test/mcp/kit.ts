import assert from "node:assert/strict";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Orb } from "../chaos/orb.ts";
import { type Answer, type Script, Target } from "../chaos/target.ts";
import { root } from "../support/source.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const page = (title: string, body: string): Answer => ({
  headers: { "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`,
});

export const PAGES = 12;
const LINES = 40;
const line = (n: number, at: number) => `Page ${n} has a line number ${at}, which says “nothing” & is kept anyway.`;
const article = (n: number) => Array.from({ length: LINES }, (_, at) => `<p>${line(n, at)}</p>`).join("");

/** A magazine: pages with long articles, one that robots.txt forbids, one that is busy, one that never answers. */
const magazine: Script = (path) => {
  const [, kind = "", n = ""] = path.split("/");
  if (path === "/robots.txt") return { body: "User-agent: *\nDisallow: /private\n" };
  if (path === "/")
    return page(
      "Magazine",
      `<article><h1>Magazine</h1>${Array.from({ length: PAGES - 1 }, (_, at) => `<a href="/p/${at + 1}">Article ${at + 1}</a>`).join(" ")}</article>`,
    );
  if (kind === "p") return page(`Article ${n}`, `<article><h1>Article ${n}</h1>${article(Number(n))}</article>`);
  if (kind === "shop")
    return page(
      "Shop",
      `<ul>${["7.50", "8", "cheap"].map((price) => `<li class="t"><b>Thing</b><i>${price}</i></li>`).join("")}</ul>`,
    );
  if (kind === "busy") return { status: 429, headers: { "retry-after": "1800" }, body: "later" };
  if (kind === "never") return new Promise<Answer>(() => {});
  return { status: 404, body: "nothing here" };
};

/** Two sites: what is held at the second does not keep anybody from the first. */
export async function openMagazine(): Promise<Target> {
  const target = await Target.start(2);
  target.script = magazine;
  return target;
}

/** What a tool answered, for people and for programs. */
export interface Told {
  text: string;
  data: Record<string, unknown>;
  isError: boolean;
}

/** An agent, as far as a program can be one. */
export class Agent implements AsyncDisposable {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: { signal?: AbortSignal; onprogress?: (told: { message?: string | undefined }) => void } = {},
  ): Promise<Told> {
    const { content, structuredContent, isError } = await this.client.callTool(
      { name, arguments: args },
      { timeout: PATIENCE_MS, ...options },
    );
    const [first] = content;
    assert.ok(first?.type === "text" && content.length === 1, "an answer is one text");
    const told = {
      text: first.text,
      data: (structuredContent ?? {}) as Record<string, unknown>,
      isError: isError === true,
    };
    const most = Math.max(2000, Number(args["max_chars"] ?? 20_000));
    assert.ok(told.text.length <= most, `${name}: ${told.text.length} characters`);
    assert.ok(
      JSON.stringify(told.data).length <= most,
      `${name}: ${JSON.stringify(told.data).length} characters of JSON`,
    );
    return told;
  }

  /** A call that has to succeed. */
  async ok(name: string, args: Record<string, unknown> = {}): Promise<Told> {
    const told = await this.call(name, args);
    assert.equal(told.isError, false, told.text);
    return told;
  }

  /** A call that has to fail, and what it says. */
  async refused(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const told = await this.call(name, args);
    assert.equal(told.isError, true, told.text);
    return told.text;
  }

  /** The call that an answer names as the next one. */
  follow({ data }: Told): Promise<Told> {
    const next = data["next"] as { tool: string; arguments: Record<string, unknown> };
    return this.ok(next.tool, next.arguments);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

/** `modern`: as clients speak since 2026-07-28; else as they did before. */
export interface Way {
  modern: boolean;
}

const clientOf = ({ modern }: Way) =>
  new Client({ name: "test", version: "1.0.0" }, modern ? { versionNegotiation: { mode: "auto" } } : {});

export async function comeOverHttp(url: string, way: Way, headers: Record<string, string> = {}): Promise<Agent> {
  const client = clientOf(way);
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }));
  return new Agent(client);
}

export interface Started extends AsyncDisposable {
  agent: Agent;
  pid: number;
  /** What it wrote besides the protocol. */
  stderr(): string;
}

/** `orb mcp`, started as agents start it. */
export async function startOverStdio(
  orb: Orb,
  way: Way,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Started> {
  const client = clientOf(way);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(root, "bin", "orb"), "mcp", ...args],
    cwd: orb.dir,
    env: { ...orb.env, ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (text: Buffer) => (stderr += text.toString()));
  await client.connect(transport);
  const agent = new Agent(client);
  return {
    agent,
    pid: transport.pid ?? 0,
    stderr: () => stderr,
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}
