import type { Answer } from "../../../api/client.ts";
import { documentIn } from "../logic/whole-page.ts";
import { isPlain } from "../../../logic/nested.ts";
import { KeyValue } from "../../../ui/Card.tsx";
import { CopyButton } from "../../../ui/text/Code.tsx";
import { DocumentView } from "./DocumentView.tsx";
import { NestedValue } from "./NestedValue.tsx";

export type Result = Answer<"listResults">[number];

/** A full record; long texts can be expanded, and documents are shown by format. */
export function Record({ row }: { row: Result }) {
  const { fields, ...rest } = row.data;
  const found = isPlain(fields) ? fields : {};
  // Results of rules come first, and win over page keys of the same name.
  const all = Object.entries({ ...found, ...rest, ...found });
  const documents = all.flatMap(([name, value]) => {
    const document = documentIn(value);
    return document === null ? [] : [{ name, document }];
  });
  const plain = all.filter(([name]) => !documents.some((one) => one.name === name));
  return (
    <div className="stack">
      {plain.length === 0 ? null : (
        <KeyValue pairs={plain.map(([name, value]) => ({ name, value: <NestedValue value={value} /> }))} />
      )}
      {documents.map(({ name, document }) => (
        <section key={name} className="record-document" aria-label={name}>
          <DocumentView document={document} />
        </section>
      ))}
    </div>
  );
}

export const CopyRecord = ({ row }: { row: Result }) => (
  <CopyButton text={JSON.stringify(row.data, null, 2)} label="Copy this record as JSON" />
);
