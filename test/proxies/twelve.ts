/** Twelve real small proxies of all kinds, most of them bad in their own way, and what passes through them. */
import { type ProxySpec, startProxies, type TestProxies, type TestProxy } from "../support/proxies.ts";

export const PASSWORD = "hunter2-of-the-proxy";
const auth = { username: "ann", password: PASSWORD };

const SPECS: readonly (ProxySpec & { name: string })[] = [
  { name: "plain", kind: "connect" },
  { name: "plain too", kind: "connect" },
  { name: "with password", kind: "connect", auth },
  { name: "socks", kind: "socks5" },
  { name: "socks with password", kind: "socks5", auth },
  { name: "a bit slow", kind: "connect", behaviour: "slow", slowMs: 100 },
  { name: "dead", kind: "connect", behaviour: "dead" },
  { name: "dead socks", kind: "socks5", behaviour: "dead" },
  { name: "too slow", kind: "connect", behaviour: "slow", slowMs: 60_000 },
  { name: "blocking", kind: "connect", behaviour: "blocking" },
  { name: "refusing", kind: "socks5", behaviour: "refuses" },
  { name: "garbage", kind: "connect", behaviour: "garbage" },
];

export const USABLE = SPECS.slice(0, 6).map(({ name }) => name);

export interface Twelve extends AsyncDisposable {
  urls: string[];
  ca: Buffer | null;
  named(name: string): TestProxy;
  nameAt(port: number): string;
  /** Names of those through which such a request has passed. */
  passed(request: RegExp): string[];
}

/** `tls`: one of the good ones speaks TLS; whoever is to use it has to trust `ca`. */
export async function startTwelve({ tls = false } = {}): Promise<Twelve> {
  const specs = SPECS.map((spec) =>
    tls && spec.name === "plain too" ? { ...spec, kind: "connect-tls" as const } : spec,
  );
  const running: TestProxies = await startProxies(specs);
  const named = (name: string) => running.all[SPECS.findIndex((spec) => spec.name === name)]!;
  return {
    urls: running.all.map(({ url }) => url),
    ca: running.ca,
    named,
    nameAt: (port) => SPECS[running.all.findIndex((proxy) => proxy.port === port)]?.name ?? `nobody at ${port}`,
    passed: (request) =>
      SPECS.map(({ name }) => name).filter((name) => named(name).requests.some((line) => request.test(line))),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
