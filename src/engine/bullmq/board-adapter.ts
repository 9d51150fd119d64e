import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  IServerAdapter,
  UIConfig,
} from "@bull-board/api/typings/app";
import type { BoardAnswer } from "../port.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

type Handler = AppControllerRoute["handler"];

/**
 * The server adapter for Bull Board. It registers read-only routes only: operations that change something do not exist
 * here, rather than being refused.
 */
export class BoardAdapter implements IServerAdapter {
  readonly #basePath: string;
  #queues: BullBoardQueues = new Map();
  #ui: UIConfig = {};
  #viewsPath = "";
  #staticPath = "";
  #staticRoute = "";
  #page: { patterns: RegExp[]; handler: AppViewRoute["handler"] } | null = null;
  #routes: { pattern: RegExp; handler: Handler }[] = [];
  #staticFiles: Promise<ReadonlySet<string>> | null = null;

  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  setQueues(queues: BullBoardQueues): this {
    this.#queues = queues;
    return this;
  }

  setViewsPath(path: string): this {
    this.#viewsPath = path;
    return this;
  }

  setStaticPath(route: string, path: string): this {
    [this.#staticRoute, this.#staticPath] = [`${route}/`, path];
    return this;
  }

  setEntryRoute({ route, handler }: AppViewRoute): this {
    this.#page = { patterns: [route].flat().map(patternOf), handler };
    return this;
  }

  setApiRoutes(routes: AppControllerRoute[]): this {
    this.#routes = routes
      .filter(({ method }) => [method].flat().every((name) => name === "get"))
      .flatMap(({ route, handler }) => [route].flat().map((path) => ({ pattern: patternOf(path), handler })));
    return this;
  }

  /** The server reports failures like those of its other calls. */
  setErrorHandler(): this {
    return this;
  }

  setUIConfig(config: UIConfig): this {
    this.#ui = config;
    return this;
  }

  /** The page or one of its static files; null: not found. */
  async file(path: string): Promise<BoardAnswer | null> {
    if (this.#page?.patterns.some((pattern) => pattern.test(path)) === true) return this.#pageFor(this.#page.handler);
    if (!path.startsWith(this.#staticRoute)) return null;
    const name = path.slice(this.#staticRoute.length);
    this.#staticFiles ??= filesIn(this.#staticPath);
    if (!(await this.#staticFiles).has(name)) return null;
    const type = CONTENT_TYPES[extname(name)] ?? "application/octet-stream";
    return { status: 200, type, body: await readFile(join(this.#staticPath, name)) };
  }

  /** The handler of a GET route; null: not found. */
  reading(path: string, query: Readonly<Record<string, unknown>>): (() => Promise<BoardAnswer>) | null {
    for (const { pattern, handler } of this.#routes) {
      const match = pattern.exec(path);
      if (match !== null) return () => this.#read(handler, match.groups ?? {}, query);
    }
    return null;
  }

  async #read(handler: Handler, params: object, query: Readonly<Record<string, unknown>>): Promise<BoardAnswer> {
    const { status = 200, body } = await handler({
      queues: this.#queues,
      uiConfig: this.#ui,
      query: { ...query },
      params: { ...params },
      body: {},
      headers: {},
    });
    return { status, type: "application/json; charset=utf-8", body: JSON.stringify(body) };
  }

  async #pageFor(handler: AppViewRoute["handler"]): Promise<BoardAnswer> {
    const { name, params } = handler({ basePath: this.#basePath, uiConfig: this.#ui });
    const template = await readFile(join(this.#viewsPath, name), "utf8");
    return { status: 200, type: "text/html; charset=utf-8", body: renderTemplate(selfHosted(template), params) };
  }
}

/** `/queue/:name` as a pattern whose groups are its parameters. */
function patternOf(route: string): RegExp {
  const parts = route.split("/").map((part) => (part.startsWith(":") ? `(?<${part.slice(1)}>[^/]+)` : part));
  return new RegExp(`^${parts.join("/")}$`);
}

async function filesIn(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .replaceAll("\\", "/"),
      ),
  );
}

/** Removes resources of other servers, such as fonts, and the inline placeholder shown until scripts load. */
function selfHosted(template: string): string {
  return template
    .replaceAll(/<link\b[^>]*\bhref="https?:[^>]*>/g, "")
    .replace(/(<div id="root">)[^]*?<\/style>\s*(<\/div>)/, "$1$2");
}

/** The two kinds of EJS placeholders without code. */
function renderTemplate(template: string, params: Readonly<Record<string, string>>): string {
  return template.replaceAll(/<%([=-]) (\w+) %>/g, (_, kind: string, name: string) => {
    const value = params[name] ?? "";
    return kind === "-" ? value : value.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  });
}
