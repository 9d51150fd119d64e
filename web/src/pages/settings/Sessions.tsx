import { useState } from "react";
import { useChange, usePages } from "../../api/query.ts";
import type { Session } from "../../api/types.ts";
import { words } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/Code.tsx";
import { Confirm } from "../../ui/Dialog.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { toast, toastError } from "../../ui/Toast.tsx";
import { Time } from "../../ui/Values.tsx";

/** Logins at sites that jobs can use; what they hold is sealed and never shown. */
export function Sessions() {
  const sessions = usePages("listSessions", { query: { limit: 100 } });
  const [doomed, setDoomed] = useState<Session | null>(null);
  const check = useChange("checkSession", {
    invalidates: ["listSessions"],
    onSuccess: ({ health }) => toast(health?.message ?? "Checked", health?.status === "healthy" ? "good" : "info"),
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
    <Card title="Sessions at sites" flush>
      {sessions.error !== null ? (
        <div className="settings-message">
          <ErrorBox error={sessions.error} onRetry={() => void sessions.refetch()} />
        </div>
      ) : sessions.isPending ? (
        <div className="settings-message">
          <Skeleton lines={3} />
        </div>
      ) : sessions.rows.length === 0 ? (
        <EmptyState icon="person" title="No sessions are kept">
          <p>
            Log in to a site once, in a browser that opens for it, and jobs can use that login. What it holds is stored
            sealed.
          </p>
          <Code text="orb login https://example.com" label="Copy command" />
        </EmptyState>
      ) : (
        <ul className="plain-lines">
          {sessions.rows.map((session) => (
            <li key={session.id}>
              <div className="plain-line-main">
                <b className="settings-part wrap">{session.name ?? session.origin}</b>
                <span className="soft wrap">
                  {session.origin} · holds {session.holds.map(words).join(", ") || "nothing"} · added{" "}
                  <Time at={session.created_at} />
                </span>
                {session.health === null ? null : <span className="soft wrap">{session.health.message}</span>}
              </div>
              <span className="row settings-check">
                {session.health === null ? null : <StatusBadge status={session.health.status} />}
                {session.check_url === null ? null : (
                  <Button
                    size="small"
                    busy={check.isPending && check.variables?.params.session_id === session.id}
                    onClick={() => check.mutate({ params: { session_id: session.id } })}
                  >
                    Check
                  </Button>
                )}
                <Button
                  size="small"
                  kind="danger"
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
          Jobs that use the login at {doomed?.origin} have to log in anew. This cannot be taken back.
        </p>
      </Confirm>
    </Card>
  );
}
