/**
 * Routes that are built with the first call of them: a command calls a handful, and building all of them takes a fifth of
 * its time.
 */
import { patternOf } from "../answers.ts";
import type { ApiDeps } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import { addRoutes } from "./registry.ts";

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** An instance that adds only the routes at the wanted paths. */
export function withRoutesAt(api: ApiInstance, wants: (url: string) => boolean): ApiInstance {
  const some = Object.create(api) as Record<string, unknown>;
  for (const method of METHODS) {
    const add = (url: string, ...rest: unknown[]) => {
      if (wants(url)) (api[method] as (...all: unknown[]) => unknown)(url, ...rest);
      return some;
    };
    some[method] = add;
  }
  // Calls within a process are no WebSockets.
  some["upgradePaths"] = [];
  return some as unknown as ApiInstance;
}

/** For a path of a call, the paths of the routes that may answer it. */
export function routeFinder(deps: ApiDeps): (path: string) => ReadonlySet<string> {
  const urls = new Set<string>();
  const collector = withRoutesAt({} as ApiInstance, (url) => {
    urls.add(url);
    return false;
  });
  addRoutes(collector, deps, null);
  const patterns = Array.from(urls, (url) => ({ url, pattern: patternOf(url) }));
  return (path) => {
    const plain = path.replace(/(?<=.)\/$/, "");
    return new Set(patterns.flatMap(({ url, pattern }) => (pattern.test(plain) ? [url] : [])));
  };
}
