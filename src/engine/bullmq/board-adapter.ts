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

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

type Handler = AppControllerRoute["handler"];

/**
 * The server adapter for Bull Board. It registers read-only routes alone: operations that change something do not exist
 * here, instead of being refused.
 */
export class BoardAdapter implements IServerAdapter {
  readonly #basePath: string;
  #queues: BullBoardQueues = new Map();
  #ui: UIConfig = {};
  #views = "";
  #files = "";
  #filesAt = "";
  #page: { patterns: RegExp[]; handler: AppViewRoute["handler"] } | null = null;
  #readings: { pattern: RegExp; handler: Handler }[] = [];
  #known: Promise<ReadonlySet<string>> | null = null;

  /** `basePath`: where it is on its server. */
  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  setQueues(queues: BullBoardQueues): this {
    this.#queues = queues;
    return this;
  }

  setViewsPath(path: string): this {
    this.#views = path;
    return this;
  }

  setStaticPath(route: string, path: string): this {
    [this.#filesAt, this.#files] = [`${route}/`, path];
    return this;
  }

  setEntryRoute({ route, handler }: AppViewRoute): this {
    this.#page = { patterns: [route].flat().map(patternOf), handler };
    return this;
  }

  setApiRoutes(routes: AppControllerRoute[]): this {
    this.#readings = routes
      .filter(({ method }) => [method].flat().every((name) => name === "get"))
      .flatMap(({ route, handler }) => [route].flat().map((one) => ({ pattern: patternOf(one), handler })));
    return this;
  }

  /** Failures are reported like those of every other call of the server. */
  setErrorHandler(): this {
    return this;
  }

  setUIConfig(config: UIConfig): this {
    this.#ui = config;
    return this;
  }

  /** The page itself, or one of the files that it is made of; null: neither. */
  async file(path: string): Promise<BoardAnswer | null> {
    if (this.#page?.patterns.some((pattern) => pattern.test(path)) === true) return this.#pageFor(this.#page.handler);
    if (!path.startsWith(this.#filesAt)) return null;
    const name = path.slice(this.#filesAt.length);
    this.#known ??= filesIn(this.#files);
    if (!(await this.#known).has(name)) return null;
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    return { status: 200, type, body: await readFile(join(this.#files, name)) };
  }

  /** The handler for a request of the page; null: not found. */
  reading(path: string, query: Readonly<Record<string, unknown>>): (() => Promise<BoardAnswer>) | null {
    for (const { pattern, handler } of this.#readings) {
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
    const template = await readFile(join(this.#views, name), "utf8");
    return { status: 200, type: "text/html; charset=utf-8", body: fillIn(ownThingsOnly(template), params) };
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

/**
 * No resources of other servers, such as fonts, and nothing inline: the placeholder shown until scripts load is
 * removed.
 */
function ownThingsOnly(template: string): string {
  return template
    .replaceAll(/<link\b[^>]*\bhref="https?:[^>]*>/g, "")
    .replace(/(<div id="root">)[^]*?<\/style>\s*(<\/div>)/, "$1$2");
}

/** The two kinds of EJS placeholders without code. */
function fillIn(template: string, params: Readonly<Record<string, string>>): string {
  return template.replaceAll(/<%([=-]) (\w+) %>/g, (_, kind: string, name: string) => {
    const value = params[name] ?? "";
    return kind === "-" ? value : value.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  });
}
