import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useChange, usePages } from "../../api/query.ts";
import type { Session } from "../../api/types.ts";
import { capital, count, words } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Time } from "../../ui/Values.tsx";
import { AddSession } from "./AddSession.tsx";
import { SignInByHand } from "./SignInByHand.tsx";

const intoView = (line: HTMLElement | null) => line?.scrollIntoView({ block: "nearest" });

/** Stored sessions for jobs; their secrets are sealed and never shown. */
export function Sessions() {
  const sessions = usePages("listSessions", { query: { limit: 100 } });
  const [doomed, setDoomed] = useState<Session | null>(null);
  const [search] = useSearchParams();
  // A link from a run that met a sign-in page opens the form for that page.
  const page = search.get("page");
  // A link from a run whose session did not sign in highlights it.
  const named = search.get("session");
  const [adding, setAdding] = useState(page !== null);
  const [signingIn, setSigningIn] = useState(false);
  const check = useChange("checkSession", {
    invalidates: ["listSessions"],
    onSuccess: ({ health }) =>
      toast(capital(health?.message ?? "Checked"), health?.status === "healthy" ? "good" : "info"),
    onError: toastError,
  });
  const remove = useChange("deleteSession", {
    invalidates: ["listSessions"],
    onSuccess: () => {
      setDoomed(null);
      toast("The session is deleted");
    },
    onError: toastError,
  });
  return (
    <Card
      title="Site sessions"
      actions={
        <>
          <Button size="small" icon="screen" needs="createSession" onClick={() => setSigningIn(true)}>
            Sign in by hand
          </Button>
          <Button size="small" icon="plus" needs="createSession" onClick={() => setAdding(true)}>
            Add session
          </Button>
        </>
      }
      flush
    >
      {sessions.error !== null ? (
        <div className="settings-message">
          <ErrorBox error={sessions.error} onRetry={() => void sessions.refetch()} />
        </div>
      ) : sessions.isPending ? (
        <div className="settings-message">
          <Skeleton lines={3} />
        </div>
      ) : sessions.rows.length === 0 ? (
        <EmptyState icon="person" title="No sessions yet">
          <p>
            Sign in by hand in a browser of the server, or copy the cookies of your own browser and add them here.
            Crawls and jobs can then fetch pages behind the sign-in. Cookies are stored encrypted and never shown again.
          </p>
          <p>On a machine with a screen, this opens a browser to sign in with:</p>
          <Code text="orb login https://example.com" label="Copy command" />
        </EmptyState>
      ) : (
        <ul className="plain-lines">
          {sessions.rows.map((session) => (
            <li key={session.id} {...(session.id === named ? { "aria-current": "true", ref: intoView } : {})}>
              <div className="plain-line-main">
                <b className="settings-part wrap">{session.name ?? session.origin}</b>
                <span className="soft wrap">
                  {session.origin} · holds {session.holds.map(words).join(", ") || "nothing"} · added{" "}
                  <Time at={session.created_at} /> ·{" "}
                  {session.last_used_at === null ? (
                    "never used"
                  ) : (
                    <>
                      last used <Time at={session.last_used_at} />
                    </>
                  )}
                </span>
                <UsedBy session={session} />
                {session.health === null ? null : <span className="soft wrap">{capital(session.health.message)}</span>}
              </div>
              <span className="row settings-check">
                {session.health === null ? null : <StatusBadge status={session.health.status} />}
                <Button
                  size="small"
                  needs="checkSession"
                  busy={check.isPending && check.variables?.params.session_id === session.id}
                  onClick={() => check.mutate({ params: { session_id: session.id } })}
                >
                  Check
                </Button>
                <Button
                  size="small"
                  kind="danger"
                  needs="deleteSession"
                  aria-label={`Delete session ${session.name ?? session.origin}`}
                  onClick={() => setDoomed(session)}
                >
                  Delete
                </Button>
              </span>
            </li>
          ))}
        </ul>
      )}
      <Confirm
        open={doomed !== null}
        onClose={() => setDoomed(null)}
        onConfirm={() => {
          if (doomed !== null) remove.mutate({ params: { session_id: doomed.id } });
        }}
        title="Delete this session?"
        verb="Delete session"
        danger
        busy={remove.isPending}
      >
        <p className="wrap">
          {doomed !== null && doomed.jobs.length > 0
            ? `${count(doomed.jobs.length, "job uses", "jobs use")} it and will fail until you choose another session: ${doomed.jobs
                .map((job) => job.name ?? job.target_url ?? job.id)
                .join(", ")}. `
            : ""}
          Its cookies are deleted. This cannot be undone.
        </p>
      </Confirm>
      <AddSession open={adding} page={page} onClose={() => setAdding(false)} />
      <SignInByHand open={signingIn} page={page} onClose={() => setSigningIn(false)} />
    </Card>
  );
}

const MOST_NAMED = 5;

/** Saved jobs that use it. */
function UsedBy({ session: { jobs } }: { session: Session }) {
  if (jobs.length === 0) return <span className="soft">Not used by any job</span>;
  return (
    <span className="soft wrap">
      Used by{" "}
      {jobs.slice(0, MOST_NAMED).map(({ id, name, target_url: url }, n) => (
        <span key={id}>
          {n === 0 ? "" : ", "}
          <Link className="link" href={`/new?job=${id}`}>
            {name ?? url ?? id}
          </Link>
        </span>
      ))}
      {jobs.length > MOST_NAMED ? ` and ${jobs.length - MOST_NAMED} more` : ""}
    </span>
  );
}
