import { useState } from "react";
import { Link } from "wouter";
import { useCall, useChange } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { humanAdvice } from "../../logic/run-page.ts";
import { quoted } from "../../logic/shell.ts";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { Checkbox, Select } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { LivePanel, type Saved } from "../live-view/LivePanel.tsx";
import { OF_A_RUN } from "./RunActions.tsx";
import { Evidence } from "./results/Evidence.tsx";

/** A run waits for a person: what it met, and how to continue. */
export function NeedsYou({ run, onSaved }: { run: Run; onSaved: (saved: Saved) => void }) {
  const params = { run_id: run.id };
  const tasks = useCall("listTasks", { params, query: { limit: 50, order: "newest" } });
  const sessions = useCall("listSessions", { query: { limit: 200 } });
  const [session, setSession] = useState("");
  const [leaving, setLeaving] = useState(false);
  const [record, setRecord] = useState(false);
  const [live, setLive] = useState<string | null>(null);
  const begin = useChange("openLiveView", { onSuccess: ({ id }) => setLive(id) });
  const resolve = useChange("resolveRun", {
    invalidates: OF_A_RUN,
    onSuccess: () => toast("The run continues."),
    onError: toastError,
  });
  const met = tasks.data?.find(({ artifacts }) => artifacts.some(({ role }) => role === "screenshot"));
  const page = met?.url ?? run.url;
  const here = page !== null && URL.canParse(page) ? new URL(page).origin : null;
  const fitting = (sessions.data ?? []).filter(({ origin }) => origin === here);
  return (
    <Card title="Waiting for you" className="needs-you">
      <div className="needs-you-parts" hidden={live !== null}>
        <div className="stack">
          <p>{humanAdvice(run.failure_reason)}</p>
          {page === null ? null : (
            <>
              {run.kind === "page" ? (
                <div className="needs-you-live">
                  <div className="row">
                    <Button
                      kind="primary"
                      icon="screen"
                      needs="openLiveView"
                      busy={begin.isPending}
                      onClick={() => begin.mutate({ body: { run_id: run.id, record } })}
                    >
                      Open live view
                    </Button>
                    <Checkbox
                      label="Record what I do as browser actions"
                      checked={record}
                      onChange={({ target }) => setRecord(target.checked)}
                    />
                  </div>
                  <p className="soft">
                    Shows the page in the server’s browser here. Solve what it asks; the run then continues with its
                    cookies.
                  </p>
                  {begin.error === null ? null : <ErrorBox error={begin.error} />}
                </div>
              ) : null}
              <p>
                Or from a terminal on a machine with a screen: this opens the page, waits for you, and stores the
                session:
              </p>
              <Code text={`orb login ${quoted(page)}`} wrap />
            </>
          )}
          <div className="needs-you-answer">
            <Select
              label="Continue with session"
              value={session}
              choices={[
                { value: "", name: fitting.length === 0 ? "No stored session fits this page" : "Choose a session" },
                ...fitting.map(({ id, origin, name }) => ({
                  value: id,
                  name: name ?? `${origin} (${id.slice(0, 8)})`,
                })),
              ]}
              onChange={({ target }) => setSession(target.value)}
            />
            <Button
              needs="resolveRun"
              disabled={session === ""}
              busy={resolve.isPending}
              onClick={() => resolve.mutate({ params, body: { session_id: session } })}
            >
              Continue
            </Button>
          </div>
          <div className="row">
            {page === null ? null : (
              <LinkButton href={page} target="_blank" rel="noreferrer noopener" icon="external">
                Open the page
              </LinkButton>
            )}
            <Button kind="quiet" needs="resolveRun" onClick={() => setLeaving(true)}>
              Give up this page
            </Button>
            <Link className="link" href={`/runs/${run.id}?tab=pages`}>
              Attempts
            </Link>
          </div>
        </div>
        {met === undefined ? null : (
          <Evidence
            screenshot={met.artifacts.find(({ role }) => role === "screenshot")?.id ?? null}
            snapshot={met.artifacts.find(({ role }) => role === "snapshot")?.id ?? null}
          />
        )}
      </div>
      {live === null ? null : (
        <LivePanel
          id={live}
          onSaved={(saved) => {
            toast("The run continues with the new session.");
            onSaved(saved);
          }}
          onClosed={() => setLive(null)}
        />
      )}
      <Confirm
        open={leaving}
        onClose={() => setLeaving(false)}
        title="Give up this page?"
        verb="Give up"
        danger
        busy={resolve.isPending}
        onConfirm={() => resolve.mutate({ params, body: { skip: true } }, { onSettled: () => setLeaving(false) })}
      >
        The run ends as failed.
      </Confirm>
    </Card>
  );
}
