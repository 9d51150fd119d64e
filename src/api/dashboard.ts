/** The dashboard's files: built by `npm run build`, served from memory, public because they contain no data. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { ApiInstance, ApiReply, ApiRequest } from "./instance.ts";
import { ApiProblem } from "./problems.ts";

/** Paths of pages. Some are API paths as well: clients that prefer HTML get the page, all others the data. */
export const PAGE_PATHS = [
  "/",
  "/new",
  "/runs",
  "/runs/:id",
  "/workflows",
  "/workflows/:id",
  "/workflows/templates/:name",
  "/sites",
  "/sites/:site",
  "/proxies",
  "/workers",
  "/queue",
  "/schedules",
  "/jobs",
  "/jobs/:id/quality",
  "/jobs/:id/changes",
  "/jobs/:id/versions",
  "/notifications",
  "/live-views/:id",
  "/settings",
  "/login",
] as const;

/** Pages without an API route at their path. */
const PAGES_ALONE = ["/new", "/jobs/:id/quality", "/notifications", "/settings", "/login"] as const;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
};

interface StoredFile {
  type: string;
  etag: string;
  bytes: Buffer;
  gzip: Buffer | null;
}

/** Whether the client prefers `text/html`, as browsers do. Programs name another type, or accept any. */
export function wantsPage(accept: string | undefined): boolean {
  const ranges = (accept ?? "").split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
  });
  const best = Math.max(...ranges.map(({ quality }) => quality));
  const first = ranges.find(({ quality }) => quality === best && quality > 0);
  return first?.type === "text/html" || first?.type === "application/xhtml+xml";
}

/** Files by path, so that no path leads outside. Reloaded after a rebuild. */
export class DashboardFiles {
  readonly #folder: string;
  #files = new Map<string, StoredFile>();
  #version = "";

  constructor(folder = fileURLToPath(new URL("../../dist/web", import.meta.url))) {
    this.#folder = folder;
  }

  find(path: string): StoredFile | undefined {
    return this.#current().get(path);
  }

  #current(): Map<string, StoredFile> {
    const page = statSync(join(this.#folder, "index.html"), { throwIfNoEntry: false });
    const version = page === undefined ? "" : `${page.ino} ${page.mtimeMs}`;
    if (version === this.#version) return this.#files;
    try {
      this.#files = version === "" ? new Map() : readFiles(this.#folder);
      this.#version = version;
    } catch {
      // A build is in progress: keep serving the known files; the next call checks again.
    }
    return this.#files;
  }
}

function readFiles(folder: string): Map<string, StoredFile> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const names = new Set(paths);
  return new Map(
    paths.flatMap((path): [string, StoredFile][] => {
      const type = TYPES[extname(path)];
      if (type === undefined) return [];
      const bytes = readFileSync(path);
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      const gzip = names.has(`${path}.gz`) ? readFileSync(`${path}.gz`) : null;
      return [[`/${relative(folder, path).split(sep).join("/")}`, { type, etag, bytes, gzip }]];
    }),
  );
}

const UNBUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Orbweaver</title>
<h1>The dashboard is not built</h1>
<p>This server works; only its pages are missing. In the folder of the clone run</p>
<pre>npm ci
npm run build</pre>
<p>and reload this page. The API is described at <a href="/docs">/docs</a>, the commands by <code>orb --help</code>.</p>
`;

/** Must be called before any route is added. */
export function addPageConstraint(api: ApiInstance): void {
  (api as unknown as FastifyInstance).addConstraintStrategy({
    name: "page",
    storage: () => {
      const handlers = new Map<unknown, unknown>();
      return {
        get: (wanted: unknown) => (handlers.get(wanted) as never) ?? null,
        set: (wanted: unknown, handler: unknown) => void handlers.set(wanted, handler),
      };
    },
    deriveConstraint: (request) => (wantsPage(request.headers.accept) ? "html" : undefined),
    mustMatchWhenDerived: false,
  });
}

export function serveDashboard(api: ApiInstance, files = new DashboardFiles()): void {
  const asPage = { config: { open: true, page: "dashboard" }, constraints: { page: "html" } } as const;
  const page = (status: number) => async (_request: ApiRequest, reply: ApiReply) => {
    const file = files.find("/index.html");
    reply.header("vary", "accept, accept-encoding");
    if (file === undefined)
      return reply
        .code(503)
        .type(TYPES[".html"] ?? "")
        .send(UNBUILT);
    return send(_request, reply.code(status), file);
  };
  for (const path of PAGE_PATHS) api.get(path, { ...asPage, schema: { hide: true } }, page(200));
  // Monitors send HEAD and accept any type; `/` has no API route.
  const asAny = { config: asPage.config, schema: { hide: true } } as const;
  api.get("/", asAny, page(200));
  for (const path of PAGES_ALONE) api.head(path, asAny, page(200));
  // Any other path opened as a page: the dashboard shows its "not found".
  api.get("/*", { ...asPage, schema: { hide: true } }, page(404));

  api.get("/assets/:name", { config: { open: true, page: "file" }, schema: { hide: true } }, async (request, reply) => {
    const file = files.find(`/assets/${(request.params as { name: string }).name}`);
    if (file === undefined) throw noFile();
    // Its name contains a hash of its content.
    return send(request, reply.header("cache-control", "public, max-age=31536000, immutable"), file);
  });
  api.get("/favicon.svg", { config: { open: true }, schema: { hide: true } }, async (request, reply) => {
    const file = files.find("/favicon.svg");
    if (file === undefined) throw noFile();
    return send(request, reply.header("cache-control", "public, max-age=86400"), file);
  });
  for (const [path, page] of [
    ["/frame.html", "frame"],
    ["/frame.js", undefined],
  ] as const)
    api.get(
      path,
      { config: { open: true, ...(page === undefined ? {} : { page }) }, schema: { hide: true } },
      async (request, reply) => {
        const file = files.find(path);
        if (file === undefined) throw noFile();
        // The frame has its own origin, for which this server is cross-origin.
        return send(request, reply.header("cross-origin-resource-policy", "cross-origin"), file);
      },
    );
}

const noFile = () => new ApiProblem("route_not_found", "there is no such route");

function send(request: ApiRequest, reply: ApiReply, file: StoredFile): ApiReply {
  reply.header("etag", file.etag).type(file.type);
  if (file.gzip !== null) reply.header("vary", reply.getHeader("vary") ?? "accept-encoding");
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  const zipped = file.gzip !== null && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  return zipped ? reply.header("content-encoding", "gzip").send(file.gzip) : reply.send(file.bytes);
}
