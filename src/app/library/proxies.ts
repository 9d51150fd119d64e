/** The proxy pool in the library. */
import type { Client } from "../context.ts";
import { importProxies } from "../../orchestrator/proxies/import.ts";
import { refreshProxies, type RefreshView, showRefresh } from "../../orchestrator/proxies/refresh.ts";
import { disableProxy, listProxies, removeProxy, showProxy } from "../../orchestrator/proxies/view.ts";
import { runEnded, type Waiting } from "../../orchestrator/runs/ended.ts";

export function proxiesOf(deps: Client) {
  return {
    /** With totals. */
    list: (filter: Parameters<typeof listProxies>[1]) => listProxies(deps, filter),
    get: (id: string) => showProxy(deps, id),
    import: (proxies: readonly string[]) => importProxies(deps, proxies),
    disable: (id: string) => disableProxy(deps, id, true),
    enable: (id: string) => disableProxy(deps, id, false),
    delete: (id: string) => removeProxy(deps, id),
    /** Checks all proxies; the id is that of a run. Returns the running check, if there is one. */
    refresh: async (): Promise<RefreshView> => (await refreshProxies(deps)).view,
    refreshed: (id: string) => showRefresh(deps, id),
    /** Resolves when the check has ended. */
    wait: (id: string, waiting: Waiting<RefreshView> = {}) => runEnded(deps, id, () => showRefresh(deps, id), waiting),
  };
}
