import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useCall } from "../../api/query.ts";
import { Card } from "../../ui/Card.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";
import { LivePanel, type Saved } from "./LivePanel.tsx";
import { RecordedActions } from "./RecordedActions.tsx";

const SESSIONS = { href: "/settings?tab=sessions", name: "Sessions" };

/** A live view on a page of its own: for signing in by hand, and for links from the command line. */
export default function LiveView() {
  const { id = "" } = useParams<{ id: string }>();
  const [, go] = useLocation();
  const about = useCall("getLiveView", { params: { view_id: id } }, { refetchOnWindowFocus: false });
  const [saved, setSaved] = useState<Saved | null>(null);
  const runId = about.data?.run_id ?? null;
  const back = runId === null ? SESSIONS : { href: `/runs/${runId}`, name: "Run" };
  if (saved !== null) return <Stored saved={saved} back={back} />;
  if (about.data === undefined) {
    if (about.error === null) return <PageSkeleton />;
    return (
      <>
        <PageHeader title="Live view" back={SESSIONS} />
        <ErrorBox error={about.error} onRetry={() => void about.refetch()} />
      </>
    );
  }
  return (
    <div className="stack">
      <PageHeader title="Live view" back={back} note={<span className="wrap">{about.data.origin}</span>} />
      <Card>
        <LivePanel
          id={id}
          onSaved={(done) => {
            toast(done.run === null ? "The session is stored." : "The run continues with the session.");
            if (done.actions.length > 0) setSaved(done);
            else go(done.run === null ? `${SESSIONS.href}&session=${done.session.id}` : `/runs/${done.run.id}`);
          }}
          onClosed={() => go(back.href)}
        />
      </Card>
    </div>
  );
}

/** The recorded actions remain to be copied. */
function Stored({ saved, back }: { saved: Saved; back: { href: string; name: string } }) {
  return (
    <div className="stack">
      <PageHeader title="Live view" back={back} />
      <Card title="Recorded actions">
        <p>
          The session {saved.session.name ?? saved.session.origin} is stored.{" "}
          <Link className="link" href={`/settings?tab=sessions&session=${saved.session.id}`}>
            Show it
          </Link>
        </p>
        <RecordedActions actions={saved.actions} notes={saved.notes} />
      </Card>
    </div>
  );
}
