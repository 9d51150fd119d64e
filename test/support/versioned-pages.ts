import type { Route } from "./misbehaving-site.ts";
import { html } from "./misbehaviours.ts";

/** A page with a version: whoever names it is told that nothing has changed. */
export function tagged(version: string, text: string): Route {
  const etag = `"${version}"`;
  const whole = html(text, 200, { etag });
  return (visit, response, site) => {
    if (visit.headers["if-none-match"] !== etag) return whole(visit, response, site);
    response.writeHead(304, { etag }).end();
    return undefined;
  };
}

/** The same by the time of the last change. */
export function dated(time: string, text: string): Route {
  const whole = html(text, 200, { "last-modified": time });
  return (visit, response, site) => {
    const since = Date.parse(visit.headers["if-modified-since"] ?? "");
    if (Number.isNaN(since) || since < Date.parse(time)) return whole(visit, response, site);
    response.writeHead(304).end();
    return undefined;
  };
}
