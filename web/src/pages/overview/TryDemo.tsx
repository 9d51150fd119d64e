import { useLocation } from "wouter";
import { useCall, useChange } from "../../api/query.ts";
import { Button } from "../../ui/Button.tsx";
import { ErrorBox } from "../../ui/States.tsx";

/** For users without a site to try: crawls the demo shop with one click. */
export function TryDemo() {
  const [, go] = useLocation();
  const offer = useCall("getDemoSite");
  const crawl = useChange("startCrawl", {
    invalidates: ["listRuns", "getOverview"],
    onSuccess: ({ task_id }) => go(`/runs/${task_id}`),
  });
  const site = useChange("startDemoSite", {
    invalidates: ["getDemoSite"],
    onSuccess: (demo) => crawl.mutate({ body: { url: demo.url, ...demo.crawl } }),
  });
  if (offer.data?.available !== true) return null;
  const error = site.error ?? crawl.error;
  return (
    <div className="try-demo">
      <Button
        icon="bolt"
        needs="startDemoSite"
        busy={site.isPending || crawl.isPending}
        onClick={() => site.mutate({})}
      >
        Try it on the demo site
      </Button>
      <p className="soft">A small bookshop on this server: works offline, gone when the server stops.</p>
      {error === null ? null : <ErrorBox error={error} />}
    </div>
  );
}
