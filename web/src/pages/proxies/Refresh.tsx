import { useEffect, useState } from "react";
import { queryClient, useCall, useChange } from "../../api/query.ts";
import type { ProxyRefresh } from "../../api/types.ts";
import { shortNumber } from "../../logic/format.ts";
import { Card } from "../../ui/Card.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { toastError } from "../../ui/overlay/Toast.tsx";

const goesOn = (refresh: ProxyRefresh | undefined) =>
  refresh?.status === "dispatched" || refresh?.status === "processing";

/** The latest check of all proxies, started here or elsewhere. */
export function useRefresh() {
  const [startedJob, setStartedJob] = useState<string | null>(null);
  const newest = useCall("listRuns", { query: { kind: "proxy_refresh", limit: 1 } });
  const job_id = startedJob ?? newest.data?.[0]?.id ?? "";
  const query = useCall(
    "getProxyRefresh",
    { params: { job_id } },
    { enabled: job_id !== "", refetchInterval: ({ state }) => (goesOn(state.data) ? 700 : false) },
  );
  const begin = useChange("refreshProxies", {
    onSuccess: (started) => setStartedJob(started.job_id),
    onError: toastError,
  });
  const active = begin.isPending || goesOn(query.data);
  const chunks = query.data?.completed_chunks;
  useEffect(() => {
    // Each chunk changes proxies of the list.
    if (chunks !== undefined) void queryClient.invalidateQueries({ queryKey: ["listProxies"] });
  }, [chunks, active]);
  return { active, last: query.data, start: () => begin.mutate({}) };
}

export function Refresh({ refresh: { active, last } }: { refresh: ReturnType<typeof useRefresh> }) {
  if (last === undefined || !active) return null;
  const { completed_chunks, total_chunks, total, message } = last;
  return (
    <Card title={`Checking ${shortNumber(total)} proxies`}>
      <div className="proxy-check" aria-live="polite">
        <Progress
          value={total_chunks === 0 ? null : Math.round((completed_chunks / total_chunks) * 100)}
          label="Progress of the proxy check"
        />
        <span className="soft">{message}</span>
      </div>
    </Card>
  );
}
