import { type ReactNode, useEffect } from "react";
import { useLocation } from "wouter";
import { live } from "../api/live.ts";
import { queryClient } from "../api/query.ts";
import { useOwnRights } from "../api/rights.ts";
import { refusalOf } from "../logic/rights.ts";
import { RightsContext } from "../ui/rights.ts";

const RELOAD_MS = 15_000;

/** Tells all pages what the caller may do. A limited key has no live updates and no overview: it reloads, and lists runs. */
export function WithRights({ hears, children }: { hears: boolean; children: ReactNode }) {
  const [path, go] = useLocation();
  const { data, isPending } = useOwnRights();
  const rights = data ?? null;
  const isLive = refusalOf(rights, "streamLive") === null;
  const isPolled = hears && !isLive;
  const opens = hears && isLive && !isPending;
  useEffect(() => (opens ? live.open() : undefined), [opens]);
  useEffect(() => {
    if (!isPolled) return;
    const timer = setInterval(() => void queryClient.invalidateQueries(), RELOAD_MS);
    return () => clearInterval(timer);
  }, [isPolled]);
  const hasOverview = refusalOf(rights, "getOverview") === null;
  useEffect(() => {
    if (path === "/" && !hasOverview) go("/runs", { replace: true });
  }, [path, hasOverview, go]);
  return <RightsContext value={rights}>{children}</RightsContext>;
}
