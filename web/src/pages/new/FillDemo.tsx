import { useCall, useChange } from "../../api/query.ts";
import { formOf } from "./logic/new-prefill.ts";
import { Button } from "../../ui/Button.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import type { Change } from "./useNew.ts";

/** Fills an empty form with a crawl of the server's demo site. */
export function FillDemo({ change }: { change: Change }) {
  const offer = useCall("getDemoSite");
  const site = useChange("startDemoSite", {
    invalidates: ["getDemoSite"],
    onSuccess: ({ url, crawl }) => change(formOf({ kind: "crawl", target_url: url, crawl })),
  });
  if (offer.data?.available !== true) return null;
  return (
    <div className="row">
      <Button size="small" icon="bolt" needs="startDemoSite" busy={site.isPending} onClick={() => site.mutate({})}>
        Fill in the demo site
      </Button>
      <span className="soft">No site to try? This server runs a local demo bookshop.</span>
      {site.error === null ? null : <ErrorBox error={site.error} />}
    </div>
  );
}
