import type { ChunkDetail, ChunkPayload } from "../../domain/proxy/proxy-refresh.ts";
import { type CheckDeps, checkProxies } from "../../proxies/check.ts";
import type { ProxyRecord, ProxyStore } from "../../store/ports/proxy-port.ts";
import type { TaskHandler } from "./handler.ts";

interface ProxyCheckDeps extends CheckDeps {
  store: Pick<ProxyStore, "proxy" | "noteProxies">;
}

/** Checks one chunk of the proxies. Idempotent: only their current state counts. */
export function proxyCheckHandler(deps: ProxyCheckDeps): TaskHandler {
  return {
    strategy: deps.checkUrl === null ? "reach" : "http",
    async run(task, { signal }) {
      const { ids } = task.payload as ChunkPayload;
      const found = await Promise.all(ids.map((id) => deps.store.proxy(id)));
      // Some may have been removed or disabled since the check began.
      const proxies = found.filter((proxy): proxy is ProxyRecord => proxy !== null && proxy.state !== "disabled");
      const seen = await checkProxies(deps, proxies, signal);
      await deps.store.noteProxies(seen, deps.clock.now());
      const usable = seen.filter(({ outcome }) => outcome.kind === "good" || outcome.kind === "reached").length;
      const detail: ChunkDetail = { checked: seen.length, usable };
      return { kind: "completed", artifacts: [], results: [], detail };
    },
  };
}
