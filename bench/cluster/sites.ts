import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { SiteQuestion, SiteWord } from "./site.ts";

type Counted = Extract<SiteWord, { count: unknown }>["count"];

/** Sites in a separate process, so that they do not limit a crawl. */
export class Sites implements Disposable {
  readonly #child: ChildProcess;
  readonly ports: readonly number[];

  private constructor(child: ChildProcess, ports: readonly number[]) {
    this.#child = child;
    this.ports = ports;
  }

  static async start({ sites, pages = 1, latencyMs = 0 }: { sites: number; pages?: number; latencyMs?: number }) {
    const file = fileURLToPath(new URL("site.ts", import.meta.url));
    const child = fork(file, [sites, pages, latencyMs].map(String));
    const { ports } = await heard(child, (word) => ("ports" in word ? word : null));
    return new Sites(child, ports);
  }

  url(site: number, path = "/"): string {
    return `http://127.0.0.1:${this.ports[site]}${path}`;
  }

  /** Start URLs for a crawl of all sites. */
  get starts(): string[] {
    return this.ports.map((_, site) => this.url(site));
  }

  async count(): Promise<Counted> {
    const counted = heard(this.#child, (word) => ("count" in word ? word : null));
    this.#ask("count");
    return (await counted).count;
  }

  /** From now on every request is reported, with its monotonic time. */
  onHit(listener: (path: string, at: number) => void): void {
    this.#child.on("message", (word: SiteWord) => "hit" in word && listener(word.hit, word.at));
    this.#ask("tell");
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }

  #ask(question: SiteQuestion): void {
    this.#child.send(question);
  }
}

function heard<T>(child: ChildProcess, wanted: (word: SiteWord) => T | null): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the process of the sites ended with ${code}`));
    const hear = (word: SiteWord) => {
      const found = wanted(word);
      if (found === null) return;
      child.off("message", hear);
      child.off("exit", ended);
      resolve(found);
    };
    child.on("message", hear);
    child.once("exit", ended);
  });
}
