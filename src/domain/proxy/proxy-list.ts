/** Lists of proxies as people have them: one to a line. */
import { parseUpstream, type Upstream } from "./upstream.ts";

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const HOST_AND_PORT = /^(?:\[[0-9a-f:.]+\]|[^\s:/@[\]]+):\d{1,5}$/i;
const WITH_USER_BEHIND = /^((?:\[[0-9a-f:.]+\]|[^\s:/@[\]]+):\d{1,5}):([^\s:]+):(\S+)$/i;

/**
 * `scheme://user:password@host:port`; without a scheme an HTTP proxy: `host:port`, `user:password@host:port` or
 * `host:port:user:password`. A string says what is wrong, without repeating any of it.
 */
export function parseProxy(text: string): Upstream | string {
  const line = text.trim();
  if (HAS_SCHEME.test(line)) return parseUpstream(line);
  const [, address, username, password] = WITH_USER_BEHIND.exec(line) ?? [];
  if (address !== undefined && username !== undefined && password !== undefined) {
    const upstream = parseUpstream(`http://${address}`);
    return typeof upstream === "string" ? upstream : { ...upstream, credentials: { username, password } };
  }
  if (HOST_AND_PORT.test(line.slice(line.lastIndexOf("@") + 1))) return parseUpstream(`http://${line}`);
  return "expected scheme://user:password@host:port, host:port, or host:port:user:password";
}

/** The lines of a list that say something; what stands behind a # at the beginning of a line is a remark. */
export function proxyLines(text: string): { line: number; text: string }[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((entry, index) => ({ line: index + 1, text: entry.replace(/^\uFEFF/, "").trim() }))
    .filter((entry) => entry.text !== "" && !entry.text.startsWith("#"));
}
