import { useEffect, useState } from "react";
import { type Answer, call, type Input } from "../../../api/client.ts";
import { queryClient } from "../../../api/query.ts";
import { countWords } from "../logic/bulk.ts";
import { serverNow } from "../../../logic/server-time.ts";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/overlay/Dialog.tsx";
import { Select } from "../../../ui/Field.tsx";
import { Progress } from "../../../ui/chart/Progress.tsx";
import { ErrorBox, Skeleton } from "../../../ui/States.tsx";
import { toast } from "../../../ui/overlay/Toast.tsx";

type Filter = Input<"deleteRuns">["body"]["filter"];
type Deletion = Answer<"getDeletion">;

export interface Deleted {
  filter: Filter;
  /** "the 3 runs you selected", "all runs that match the filter". */
  which: string;
}

const DAY = 86_400_000;
const AGES = [
  { value: "0", name: "At any time" },
  { value: "1", name: "More than a day ago" },
  { value: "7", name: "More than 7 days ago" },
  { value: "30", name: "More than 30 days ago" },
  { value: "90", name: "More than 90 days ago" },
];
const LOOK_MS = 300;

/** Counts first, then deletes in the background and shows the progress. */
export function DeleteRuns({ deleted, onClose }: { deleted: Deleted | null; onClose: () => void }) {
  const [age, setAge] = useState("0");
  const [matched, setMatched] = useState<number | null>(null);
  const [deletion, setDeletion] = useState<Deletion | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const filter: Filter | null =
    deleted === null
      ? null
      : {
          ...deleted.filter,
          ...(age === "0" ? {} : { ended_before: new Date(serverNow() - Number(age) * DAY).toISOString() }),
        };
  useEffect(() => setAge("0"), [deleted]);
  useEffect(() => {
    setMatched(null);
    setDeletion(null);
    setError(null);
    if (filter === null) return;
    const stop = new AbortController();
    call("deleteRuns", { body: { filter, dry_run: true } }, { signal: stop.signal })
      .then((answer) => setMatched(answer.matched))
      .catch((why: unknown) => {
        if (!stop.signal.aborted) setError(why);
      });
    return () => stop.abort();
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [deleted, age, tries]);
  useFollow(deletion, setDeletion, setError, onClose);
  if (deleted === null || filter === null) return null;
  const act = async () => {
    try {
      setDeletion((await call("deleteRuns", { body: { filter } })) as Deletion);
    } catch (why) {
      setError(why);
    }
  };
  const isNone = matched === 0 && deletion === null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete ${deleted.which}?`}
      actions={
        deletion !== null || error !== null ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button onClick={onClose}>{isNone ? "Close" : "Cancel"}</Button>
            {isNone ? null : (
              <Button
                kind="danger"
                icon="trash"
                needs="deleteRuns"
                disabled={matched === null}
                onClick={() => void act()}
              >
                {matched === null ? "Delete" : `Delete ${countWords(matched)}`}
              </Button>
            )}
          </>
        )
      }
    >
      <div className="stack" aria-live="polite">
        {error === null ? null : <ErrorBox error={error} onRetry={() => setTries(tries + 1)} />}
        {deletion === null ? (
          <>
            <Select label="Ended" choices={AGES} value={age} onChange={({ target }) => setAge(target.value)} />
            {matched === null ? (
              error === null ? (
                <Skeleton lines={2} />
              ) : null
            ) : isNone ? (
              <p>
                None of them can be deleted: they have not ended, ended too recently for this choice, are kept, or
                belong to a workflow.
              </p>
            ) : (
              <p>
                <strong>{countWords(matched)}</strong> with their results, events and files are deleted. This cannot be
                undone. Active runs and runs marked “Keep” are not deleted.
              </p>
            )}
          </>
        ) : (
          <>
            <p>
              Deleted {countWords(deletion.deleted)} of {countWords(deletion.matched)}. It continues if you close this
              dialog.
            </p>
            <Progress
              value={deletion.matched === 0 ? 100 : (100 * deletion.deleted) / deletion.matched}
              label="Progress of the deletion"
            />
          </>
        )}
      </div>
    </Dialog>
  );
}

/** Polls the progress until it has ended. */
function useFollow(
  deletion: Deletion | null,
  setDeletion: (next: Deletion) => void,
  setError: (why: unknown) => void,
  onEnded: () => void,
): void {
  useEffect(() => {
    if (deletion === null) return;
    if (deletion.status === "completed") {
      toast(`Deleted ${countWords(deletion.deleted)}.`);
      void queryClient.invalidateQueries({ queryKey: ["listRuns"] });
      onEnded();
      return;
    }
    const timer = setTimeout(() => {
      call("getDeletion", { params: { deletion_id: deletion.id } }).then(setDeletion, setError);
    }, LOOK_MS);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [deletion]);
}
