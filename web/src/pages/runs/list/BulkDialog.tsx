import { useEffect, useRef, useState } from "react";
import { type Answer, call, type Input } from "../../../api/client.ts";
import { queryClient } from "../../../api/query.ts";
import { BULK_WORDS, type BulkAction, type BulkOutcome, changeAll, countWords, matchedWords } from "../logic/bulk.ts";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/overlay/Dialog.tsx";
import { ErrorBox, Skeleton } from "../../../ui/States.tsx";
import { toast, toastError } from "../../../ui/overlay/Toast.tsx";

export interface Bulk {
  action: BulkAction;
  filter: Input<"changeRuns">["body"]["filter"];
  /** "the 3 runs you selected", "all runs that match the filter". */
  which: string;
}

type Counted = Answer<"changeRuns">;

/** Shows how many runs are affected before the action, and the outcome afterwards. */
export function BulkDialog({ bulk, onClose, onDone }: { bulk: Bulk | null; onClose: () => void; onDone: () => void }) {
  const [counted, setCounted] = useState<Counted | null>(null);
  /** The outcome so far, and whether it is complete. */
  const [outcome, setOutcome] = useState<(BulkOutcome & { ended: boolean }) | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const [busy, setBusy] = useState(false);
  const stopped = useRef(new AbortController());
  useEffect(() => {
    setCounted(null);
    setOutcome(null);
    setError(null);
    setBusy(false);
    if (bulk === null) return;
    const stop = new AbortController();
    stopped.current = stop;
    const { action, filter } = bulk;
    call("changeRuns", { body: { action, filter, dry_run: true } }, { signal: stop.signal })
      .then((answer) => {
        if (!stop.signal.aborted) setCounted(answer);
      })
      .catch((why: unknown) => {
        if (!stop.signal.aborted) setError(why);
      });
    return () => stop.abort();
  }, [bulk, tries]);
  if (bulk === null) return null;
  const { verb, done, what } = BULK_WORDS[bulk.action];
  const act = async (from: Counted) => {
    const { signal } = stopped.current;
    const { action, filter } = bulk;
    setBusy(true);
    setError(null);
    let sum: BulkOutcome;
    try {
      sum = await changeAll(
        from,
        (next) => call("changeRuns", { body: { action, filter, from: next } }),
        (so) => {
          if (!signal.aborted) setOutcome({ ...so, ended: false });
        },
        signal,
      );
    } catch (why) {
      if (signal.aborted) toastError(why);
      else setError(why);
      return;
    } finally {
      // Some runs may have changed, however it ended.
      await queryClient.invalidateQueries({ queryKey: ["listRuns"] });
      if (!signal.aborted) setBusy(false);
    }
    const words = `${done} ${countWords(sum.done)}`;
    if (signal.aborted) return toast(sum.next === null ? `${words}.` : `${words}, then stopped.`);
    onDone();
    if (sum.failed_count > 0) return setOutcome({ ...sum, ended: true });
    toast(`${words}.`);
    onClose();
  };
  const matched = counted?.matched ?? 0;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${verb} ${bulk.which}?`}
      actions={
        outcome?.ended === true || error !== null || (counted !== null && matched === 0) ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button onClick={onClose}>{busy ? "Stop" : bulk.action === "cancel" ? "Keep running" : "Cancel"}</Button>
            <Button
              kind={bulk.action === "cancel" ? "danger" : "primary"}
              needs="changeRuns"
              busy={busy}
              disabled={counted === null}
              onClick={() => counted !== null && void act(counted)}
            >
              {counted === null ? verb : `${verb} ${matchedWords(matched)}`}
            </Button>
          </>
        )
      }
    >
      <div className="stack" aria-live="polite">
        {outcome === null ? null : (
          <p>
            {done} {countWords(outcome.done)}
            {outcome.ended ? "." : " so far."}
          </p>
        )}
        {error === null ? null : <ErrorBox error={error} onRetry={() => setTries(tries + 1)} />}
        {outcome === null ? (
          counted === null ? (
            error === null ? (
              <Skeleton lines={2} />
            ) : null
          ) : matched === 0 ? (
            <p>None of these runs is in a state that allows this.</p>
          ) : (
            <>
              <p>
                This applies to <strong>{matchedWords(matched)}</strong>. Runs in other states and runs created from now
                on are not affected.
              </p>
              <p className="soft">{what}</p>
            </>
          )
        ) : outcome.failed_count === 0 ? null : (
          <>
            <p>{countWords(outcome.failed_count)} could not be changed:</p>
            <ul className="stack wrap">
              {outcome.failed.map(({ run_id, detail }) => (
                <li key={run_id}>
                  <a className="link mono" href={`/runs/${run_id}`}>
                    {run_id.slice(0, 8)}
                  </a>{" "}
                  {detail}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Dialog>
  );
}
