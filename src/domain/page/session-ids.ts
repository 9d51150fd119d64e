/**
 * Session ids in URLs: a server that sets no cookie writes a new one into every link, and every page would be a new page
 * on every visit. They are left out of the key of a page, never out of the address that is fetched.
 */

/** Names that mean nothing else, in small letters: removed whatever their value. */
const CERTAIN =
  /^(?:phpsessid|jsessionid|aspsessionid[a-z]*|asp\.net_sessionid|oscsid|zenid|cftoken|cfid|sessionid|session_id|sess_id|sessid)$/;
/** Names that may mean something else (a station, a subject): removed only when the value is a random token. */
const POSSIBLE = /^(?:sid|s|session|sess|psid|ssid)$/;
/** As session ids are: long, letters and digits mixed. */
const TOKEN = /^(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_-]{16,}$/;

/** Behind a semicolon in the path (`/a;jsessionid=1A2B`), or as ASP.NET writes them (`/(S(lit3py55t21z5v55vlm25s55))/a`). */
const IN_PATH = /;(?:jsessionid|phpsessid|sessionid|sid)=[^/;?]*/gi;
const ASP_NET = /^\/\((?:[A-Z]\([A-Za-z0-9_-]+\))+\)(?=\/|$)/;

/** The URL without them; unchanged, to the byte, when there are none. */
export function withoutSessionIds(url: string): string {
  const queryAt = url.indexOf("?");
  const before = queryAt < 0 ? url : url.slice(0, queryAt);
  const pathAt = before.indexOf("/", before.indexOf("://") + 3);
  if (pathAt < 0) return url;
  const path = before.slice(pathAt).replace(IN_PATH, "").replace(ASP_NET, "");
  const query = queryAt < 0 ? "" : queryWithout(url.slice(queryAt));
  return `${before.slice(0, pathAt)}${path === "" ? "/" : path}${query}`;
}

function isSessionParameter(name: string, value: string): boolean {
  const small = name.toLowerCase();
  return CERTAIN.test(small) || (POSSIBLE.test(small) && TOKEN.test(value));
}

function queryWithout(query: string): string {
  const parts = query.slice(1).split("&");
  const kept = parts.filter((part) => {
    const equals = part.indexOf("=");
    return equals < 0 || !isSessionParameter(part.slice(0, equals), part.slice(equals + 1));
  });
  if (kept.length === parts.length) return query;
  return kept.length === 0 ? "" : `?${kept.join("&")}`;
}
