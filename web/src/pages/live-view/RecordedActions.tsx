import { Code } from "../../ui/text/Code.tsx";

/** What was done on the page, as browser actions for a job. */
export function RecordedActions({ actions, notes }: { actions: readonly object[]; notes: readonly string[] }) {
  return (
    <div className="stack live-recorded">
      {actions.length === 0 ? (
        <p className="soft">Nothing was recorded yet.</p>
      ) : (
        <Code text={JSON.stringify(actions, null, 1)} label="Copy actions" wrap />
      )}
      {notes.map((note) => (
        <p key={note} className="soft wrap">
          {note}
        </p>
      ))}
    </div>
  );
}
