import { useEffect, useState } from "react";
import { type Answer, call, type Input } from "../../api/client.ts";
import { queryClient } from "../../api/query.ts";
import { BULK_WORDS, type BulkAction, matchedWords } from "../../logic/run-rows.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { toast } from "../../ui/Toast.tsx";

export interface Bulk {
  action: BulkAction;
  filter: Input<"changeRuns">["body"]["filter"];
  /** "the 3 runs you selected", "all runs that fit the filter". */
  which: string;
}

type Outcome = Answer<"changeRuns">;

/** Says how many runs it is about before anything is done to them, and what became of it. */
export function BulkDialog({ bulk, onClose, onDone }: { bulk: Bulk | null; onClose: () => void; onDone: () => void }) {
  const [counted, setCounted] = useState<Outcome | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setCounted(null);
    setOutcome(null);
    setError(null);
    if (bulk === null) return;
    const stop = new AbortController();
    const { action, filter } = bulk;
    call("changeRuns", { body: { action, filter, dry_run: true } }, { signal: stop.signal })
      .then(setCounted)
      .catch((why: unknown) => {
        if (!stop.signal.aborted) setError(why);
      });
    return () => stop.abort();
  }, [bulk, tries]);
  if (bulk === null) return null;
  const { verb, done, what } = BULK_WORDS[bulk.action];
  const act = async () => {
    setBusy(true);
    setError(null);
    try {
      const sum = await changeAll(bulk);
      await queryClient.invalidateQueries({ queryKey: ["listRuns"] });
      onDone();
      if (sum.failed_count === 0) {
        toast(`${done} ${matchedWords(sum.done)}.`);
        onClose();
      } else setOutcome(sum);
    } catch (why) {
      setError(why);
    } finally {
      setBusy(false);
    }
  };
  const matched = counted?.matched ?? 0;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${verb} ${bulk.which}?`}
      actions={
        outcome !== null || (counted !== null && matched === 0) ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button onClick={onClose}>Keep as it is</Button>
            <Button
              kind={bulk.action === "cancel" ? "danger" : "primary"}
              busy={busy}
              disabled={counted === null}
              onClick={() => void act()}
            >
              {counted === null ? verb : `${verb} ${matchedWords(matched)}`}
            </Button>
          </>
        )
      }
    >
      <div className="stack" aria-live="polite">
        {error === null ? null : <ErrorBox error={error} onRetry={() => setTries(tries + 1)} />}
        {outcome === null ? (
          counted === null ? (
            error === null ? (
              <Skeleton lines={2} />
            ) : null
          ) : matched === 0 ? (
            <p>None of them is in a state that allows it, so there is nothing to do.</p>
          ) : (
            <>
              <p>
                This is about <strong>{matchedWords(matched)}</strong>. Runs whose state does not allow it are left
                alone.
              </p>
              <p className="soft">{what}</p>
            </>
          )
        ) : (
          <>
            <p>
              {done} {matchedWords(outcome.done)}. {matchedWords(outcome.failed_count)} could not be changed:
            </p>
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

/** One call changes a thousand at most: again, as long as there is something left and something happens. */
async function changeAll({ action, filter }: Bulk): Promise<Outcome> {
  const change = () => call("changeRuns", { body: { action, filter } });
  let last = await change();
  let sum = last;
  while (last.remaining > 0 && last.done > 0) {
    last = await change();
    sum = {
      ...last,
      done: sum.done + last.done,
      failed_count: sum.failed_count + last.failed_count,
      failed: [...sum.failed, ...last.failed].slice(0, 100),
    };
  }
  return sum;
}
