import { useState } from "react";
import { addressOf } from "../../../api/client.ts";
import { useCall } from "../../../api/query.ts";
import { Button, LinkButton } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/overlay/Dialog.tsx";
import { HtmlFrame } from "../../../ui/text/HtmlFrame.tsx";
import { ErrorBox, Skeleton } from "../../../ui/States.tsx";
import { useFrame } from "../../../ui/text/useFrame.ts";

/** The page as fetched: its screenshot, and its HTML in a sandbox. */
export function Evidence({ screenshot, snapshot }: { screenshot: string | null; snapshot: string | null }) {
  const [open, setOpen] = useState<"picture" | "copy" | null>(null);
  const picture = screenshot === null ? null : addressOf("getArtifact", { params: { artifact_id: screenshot } });
  if (picture === null && snapshot === null) return null;
  return (
    <div className="evidence">
      {picture === null ? null : (
        <button type="button" className="evidence-picture" onClick={() => setOpen("picture")}>
          <img src={picture} alt="Screenshot of the page" loading="lazy" />
        </button>
      )}
      {snapshot === null ? null : (
        <Button size="small" icon="search" onClick={() => setOpen("copy")}>
          Show saved HTML
        </Button>
      )}
      <Dialog open={open === "picture"} onClose={() => setOpen(null)} title="Screenshot of the page" wide>
        {picture === null ? null : <img className="evidence-large" src={picture} alt="Screenshot of the page" />}
      </Dialog>
      <Dialog open={open === "copy"} onClose={() => setOpen(null)} title="Saved HTML" wide>
        {snapshot === null ? null : <Copy id={snapshot} />}
      </Dialog>
    </div>
  );
}

function Copy({ id }: { id: string }) {
  const input = { params: { artifact_id: id } };
  const { data, error, refetch } = useCall("getArtifact", input, { staleTime: Number.POSITIVE_INFINITY });
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={6} />;
  return (
    <div className="stack">
      <p className="soft">The HTML as received, without scripts and external resources.</p>
      <Shown html={data} />
      <div>
        <LinkButton href={addressOf("getArtifact", input)} download="" size="small" icon="download">
          Download HTML
        </LinkButton>
      </div>
    </div>
  );
}

function Shown({ html }: { html: string }) {
  return <HtmlFrame frame={useFrame({ html })} label="Saved HTML" />;
}
