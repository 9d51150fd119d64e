import { type ReactNode, useEffect, useRef, useState } from "react";
import { useCall, useChange } from "../../api/query.ts";
import type { Answer } from "../../api/client.ts";
import { count } from "../../logic/format.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toastError } from "../../ui/overlay/Toast.tsx";
import { timeLeft } from "./logic/live-messages.ts";
import { PageDialog } from "./PageDialog.tsx";
import { RecordedActions } from "./RecordedActions.tsx";
import { SaveForm } from "./SaveForm.tsx";
import { Screen } from "./Screen.tsx";
import { Toolbar } from "./Toolbar.tsx";
import { useLiveView } from "./useLiveView.ts";
import "./live-view.css";

export type Saved = Answer<"saveLiveView">;

/** A live view: the page, its controls, and what becomes of it. */
export function LivePanel({
  id,
  onSaved,
  onClosed,
}: {
  id: string;
  onSaved: (saved: Saved) => void;
  onClosed: () => void;
}) {
  const view = useLiveView(id);
  const { state, waiting, ended, notices, dismiss, send, hasPicture } = view;
  const about = useCall("getLiveView", { params: { view_id: id } });
  const [isZoomed, setZoomed] = useState(false);
  const toolbar = useRef<HTMLDivElement>(null);
  const save = useChange("saveLiveView", {
    invalidates: ["listSessions", "getRun", "listRuns", "listTasks", "listEvents"],
    onSuccess: onSaved,
  });
  const close = useChange("closeLiveView", { onSuccess: onClosed, onError: toastError });
  const recorded = state?.recorded ?? 0;
  const { refetch } = about;
  useEffect(() => {
    if (recorded > 0) void refetch();
  }, [recorded, refetch]);
  if (ended !== null)
    return (
      <Ended message={save.isPending ? "Saving …" : ended.message} onClosed={save.isPending ? null : onClosed}>
        {save.error === null ? null : <ErrorBox error={save.error} />}
      </Ended>
    );
  const { records = false, run_id: runId = null, mobile = false } = about.data ?? {};
  return (
    <div className="live-panel">
      <Toolbar view={view} isZoomed={isZoomed} onZoom={() => setZoomed(!isZoomed)} first={toolbar} />
      <div className="live-frame">
        <Screen view={view} isPhone={mobile} isZoomed={isZoomed} onLeave={() => toolbar.current?.focus()} />
        {state?.dialog ? (
          <PageDialog key={state.dialog.id} dialog={state.dialog} controls={state.controls} send={send} />
        ) : null}
        {waiting === null && hasPicture ? null : (
          <p className="live-waiting" role="status">
            {waiting ?? "Waiting for the first picture …"}
          </p>
        )}
      </div>
      <div role="status" className="live-notices">
        {notices.map((notice) => (
          <p key={notice.id} className="live-notice">
            <span className="wrap">{notice.text}</span>
            <IconButton label="Dismiss" icon="close" size="small" onClick={() => dismiss(notice.id)} />
          </p>
        ))}
      </div>
      <About state={state} />
      {about.data === undefined ? null : (
        <SaveForm
          isOfRun={runId !== null}
          first={about.data}
          busy={save.isPending}
          error={save.error}
          onSave={(body) => save.mutate({ params: { view_id: id }, body })}
        >
          <Button kind="quiet" busy={close.isPending} onClick={() => close.mutate({ params: { view_id: id } })}>
            Close without saving
          </Button>
        </SaveForm>
      )}
      {records ? (
        <details className="live-details">
          <summary>Recorded actions ({recorded})</summary>
          <RecordedActions actions={about.data?.actions ?? []} notes={about.data?.notes ?? []} />
        </details>
      ) : null}
    </div>
  );
}

function About({ state }: { state: ReturnType<typeof useLiveView>["state"] }) {
  if (state === null) return null;
  const who = state.controls
    ? "You control the page: click on it, then type. Shift+Esc leaves it."
    : state.controller === null
      ? "You watch. Nobody controls the page."
      : `You watch. ${state.controller} controls the page.`;
  const others = state.viewers > 1 ? ` ${count(state.viewers, "person watches", "people watch")}.` : "";
  return (
    <p className="soft live-about">
      {who}
      {others} Unused, it closes in {timeLeft(state.idle_ends_at, Date.now())}.
    </p>
  );
}

function Ended({
  message,
  onClosed,
  children,
}: {
  message: string;
  onClosed: (() => void) | null;
  children: ReactNode;
}) {
  return (
    <div className="live-ended stack" role="status">
      <p>{message}</p>
      {children}
      {onClosed === null ? null : (
        <div>
          <Button onClick={onClosed}>Close</Button>
        </div>
      )}
    </div>
  );
}
