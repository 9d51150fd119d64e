import { useState } from "react";
import type { Operations } from "../../api/types.ts";
import { Segmented } from "../../ui/Field.tsx";
import { IgnoredPlaces, type Watching } from "./IgnoredPlaces.tsx";
import { type Hunk, type Line, pairsOf, valueText } from "./diff-rows.ts";

type Change = Operations["getJobChange"]["answer"];
type Difference = NonNullable<Change["diff"]>;

/** How a page differs from its last good state. */
export function Diff({ job, change, watched, onWatch }: { job: string; change: Change } & Watching) {
  const [isBeside, setBeside] = useState(false);
  const { diff } = change;
  if (diff === null) return <p className="soft">{NOTHING[change.change]}</p>;
  if (diff.picture !== null) return <Pictures job={job} change={change} picture={diff.picture} />;
  return (
    <div className="stack">
      {diff.records === null ? null : <Records records={diff.records} />}
      {diff.hunks.length === 0 ? null : (
        <>
          <Segmented
            label="View"
            value={isBeside ? "beside" : "inline"}
            choices={[
              { value: "inline", name: "Inline" },
              { value: "beside", name: "Side by side" },
            ]}
            onChange={(value) => setBeside(value === "beside")}
          />
          {diff.hunks.map((hunk, index) =>
            isBeside ? <Beside key={index} hunk={hunk} /> : <Inline key={index} hunk={hunk} />,
          )}
        </>
      )}
      <IgnoredPlaces ignored={diff.ignored} watched={watched} onWatch={onWatch} />
      {diff.truncated ? <p className="soft">There are more differences than are kept.</p> : null}
    </div>
  );
}

const NOTHING: Readonly<Record<Change["change"], string>> = {
  new: "The page was not known before.",
  removed: "The page is gone, or no longer linked.",
  changed: "The difference is no longer stored.",
};

const SIGNS = { " ": "same", "-": "removed", "+": "added" } as const;

function Words({ line }: { line: Line }) {
  if (line.words === undefined) return <>{line.text}</>;
  return (
    <>
      {line.words.map(({ op, text }, index) =>
        op === " " ? <span key={index}>{text}</span> : <mark key={index}>{text}</mark>,
      )}
    </>
  );
}

function Cell({ line }: { line: Line | null }) {
  if (line === null) return <td className="diff-none" />;
  return (
    <td className={`diff-${SIGNS[line.op]}`}>
      {line.op === " " ? null : <span className="spoken">{SIGNS[line.op]}: </span>}
      <Words line={line} />
    </td>
  );
}

function Inline({ hunk: { after_line: at, lines } }: { hunk: Hunk }) {
  return (
    <table className="diff" aria-label={`Lines from ${at} on`}>
      <tbody>
        {lines.map((line, index) => (
          <tr key={index}>
            <td className="diff-sign" aria-hidden="true">
              {line.op}
            </td>
            <Cell line={line} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Beside({ hunk: { after_line: at, lines } }: { hunk: Hunk }) {
  return (
    <div className="diff-scroll">
      <table className="diff diff-beside" aria-label={`Lines from ${at} on`}>
        <thead>
          <tr>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {pairsOf(lines).map(({ before, after }, index) => (
            <tr key={index}>
              <Cell line={before} />
              <Cell line={after} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Records({ records }: { records: NonNullable<Difference["records"]> }) {
  return (
    <div className="diff-scroll">
      <table className="diff diff-records" aria-label="Changed records">
        <thead>
          <tr>
            <th scope="col">Record</th>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {records.flatMap(({ key, change, fields }, row) =>
            Object.entries(fields).map(([name, { before, after }], index) => (
              <tr key={`${row} ${name}`}>
                <td>{index === 0 ? `${valueText(key)} (${change})` : ""}</td>
                <td>{name}</td>
                <td className={change === "new" ? "" : "diff-removed"}>{valueText(before)}</td>
                <td className={change === "removed" ? "" : "diff-added"}>{valueText(after)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Both screenshots, with the changed areas marked. */
function Pictures({
  job,
  change,
  picture,
}: {
  job: string;
  change: Change;
  picture: NonNullable<Difference["picture"]>;
}) {
  const { width, height, boxes } = picture;
  return (
    <div className="diff-pictures">
      {change.contents.map((version) => (
        <figure key={version}>
          <figcaption>{version === "before" ? "Before" : "After"}</figcaption>
          <span className="diff-picture">
            <img src={`/jobs/${job}/changes/${change.number}/${version}`} alt={`Screenshot ${version} the change`} />
            {version === "before"
              ? null
              : boxes.map((box, index) => (
                  <span
                    key={index}
                    className="diff-box"
                    style={{
                      left: `${(box.x / width) * 100}%`,
                      top: `${(box.y / height) * 100}%`,
                      width: `${(box.width / width) * 100}%`,
                      height: `${(box.height / height) * 100}%`,
                    }}
                  />
                ))}
          </span>
        </figure>
      ))}
    </div>
  );
}
