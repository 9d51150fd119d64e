import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import type { Run } from "../../api/types.ts";
import { call } from "../../api/client.ts";
import { queryClient, useChange } from "../../api/query.ts";
import { count } from "../../logic/format.ts";
import { actionsOf } from "../../logic/run-page.ts";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { CopyButton, copyText } from "../../ui/text/Code.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/overlay/Menu.tsx";
import { usePhone } from "../../ui/table/Table.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";

/** Operations outdated by a change of a run. */
export const OF_A_RUN = [
  "getRun",
  "getCrawl",
  "listRuns",
  "listTasks",
  "listEvents",
  "listRunErrors",
  "listRunSites",
] as const;

export function RunActions({ run, failed }: { run: Run; failed: number | null }) {
  const can = actionsOf(run);
  const params = { run_id: run.id };
  const [asking, setAsking] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const options = (text: string) => ({
    invalidates: OF_A_RUN,
    onSuccess: () => toast(text),
    onError: toastError,
  });
  const cancel = useChange("cancelRun", options("Cancelled."));
  const pause = useChange("pauseRun", options("Paused. Pages in flight finish first."));
  const resume = useChange("resumeRun", options("Run resumed."));
  const remove = useChange("deleteRun", {
    invalidates: ["listRuns", "listJobs", "getOverview"],
    onSuccess: () => {
      toast("The run is deleted.");
      go("/runs");
    },
    onError: toastError,
  });
  const again = useChange("startRun", {
    invalidates: ["listRuns", "listJobs", "getOverview"],
    onSuccess: ({ id }) => go(`/runs/${id}`),
    onError: toastError,
  });
  const retry = useRetryFailed(run.id);
  // On a phone only actions that change the run are buttons; the rest is in a menu.
  const phone = usePhone();
  const [, go] = useLocation();
  const canRetry = can.retryFailed && failed !== 0;
  const isOver = !can.cancel && !can.pause && !can.resume;
  const showsRetry = canRetry && (!phone || isOver);
  const showsClone = can.clone && (!phone || (isOver && !canRetry));
  // The current view: tab, filters, open page.
  const search = useSearch();
  const link = `${location.origin}/runs/${run.id}${search === "" ? "" : `?${search}`}`;
  return (
    <>
      {can.resume ? (
        <Button
          kind="primary"
          icon="runs"
          needs="resumeRun"
          busy={resume.isPending}
          onClick={() => resume.mutate({ params })}
        >
          Resume
        </Button>
      ) : null}
      {can.pause ? (
        <Button icon="pause" needs="pauseRun" busy={pause.isPending} onClick={() => pause.mutate({ params })}>
          Pause
        </Button>
      ) : null}
      {showsRetry ? (
        <Button icon="retry" needs="retryFailedTasks" busy={retry.busy} onClick={() => void retry.act({})}>
          Retry failed
        </Button>
      ) : null}
      {can.rerun && !phone ? (
        <Button
          icon="runs"
          needs="startRun"
          busy={again.isPending}
          onClick={() => again.mutate({ params: { job_id: run.job_id ?? "" } })}
        >
          Run again
        </Button>
      ) : null}
      {showsClone ? (
        <LinkButton href={`/new?from=${run.id}`} icon="copy" needs="startCrawl">
          Clone with changes
        </LinkButton>
      ) : null}
      {phone ? null : (
        <CopyButton text={link} icon="link" size="normal">
          Copy link
        </CopyButton>
      )}
      {can.cancel ? (
        <Button kind="danger" icon="stop" needs="cancelRun" onClick={() => setAsking(true)}>
          Cancel
        </Button>
      ) : null}
      {phone || can.remove ? (
        <Menu
          label="More"
          trigger={<Icon name="more" />}
          items={[
            ...(phone && canRetry && !showsRetry
              ? [
                  {
                    name: "Retry failed",
                    icon: "retry" as const,
                    needs: "retryFailedTasks" as const,
                    onChoose: () => void retry.act({}),
                  },
                ]
              : []),
            ...(phone && can.rerun
              ? [
                  {
                    name: "Run again",
                    icon: "runs" as const,
                    needs: "startRun" as const,
                    onChoose: () => again.mutate({ params: { job_id: run.job_id ?? "" } }),
                  },
                ]
              : []),
            ...(phone && can.clone && !showsClone
              ? [
                  {
                    name: "Clone with changes",
                    icon: "copy" as const,
                    needs: "startCrawl" as const,
                    onChoose: () => go(`/new?from=${run.id}`),
                  },
                ]
              : []),
            ...(phone
              ? [
                  {
                    name: "Copy link",
                    icon: "link" as const,
                    onChoose: () => void copyText(link).then((done) => (done ? toast("Copied.") : undefined)),
                  },
                ]
              : []),
            ...(can.remove
              ? [
                  {
                    name: "Delete",
                    icon: "trash" as const,
                    danger: true,
                    needs: "deleteRun" as const,
                    onChoose: () => setDeleting(true),
                  },
                ]
              : []),
          ]}
        />
      ) : null}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Cancel this run?"
        verb="Cancel run"
        dismiss="Keep running"
        danger
        busy={cancel.isPending}
        onConfirm={() => cancel.mutate({ params }, { onSettled: () => setAsking(false) })}
      >
        Pages in flight are stopped; results so far are kept. A cancelled run cannot be resumed. To continue later,
        pause it instead.
      </Confirm>
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this run?"
        verb="Delete run"
        danger
        busy={remove.isPending}
        onConfirm={() => remove.mutate({ params }, { onSettled: () => setDeleting(false) })}
      >
        The run is deleted with its results, events and files. This cannot be undone.
      </Confirm>
    </>
  );
}

/** Retries all or some failures. */
export function useRetryFailed(runId: string) {
  const [busy, setBusy] = useState(false);
  const act = async (which: NonNullable<Parameters<typeof call<"retryFailedTasks">>[1]>["body"]) => {
    setBusy(true);
    try {
      const { retried } = await call("retryFailedTasks", { params: { run_id: runId }, body: which });
      toast(retried === 0 ? "Nothing to retry." : `Retrying ${count(retried, "page")}.`);
      await Promise.all(OF_A_RUN.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return { busy, act };
}
