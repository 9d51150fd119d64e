import { useState } from "react";
import { addressOf } from "../../../api/client.ts";
import { type DocumentPart, documentParts, type PageDocument } from "../logic/whole-page.ts";
import { Addresses } from "../../../ui/text/Addresses.tsx";
import { Button, LinkButton } from "../../../ui/Button.tsx";
import { KeyValue } from "../../../ui/Card.tsx";
import { CopyButton } from "../../../ui/text/Code.tsx";
import { Segmented } from "../../../ui/Field.tsx";
import { HtmlFrame } from "../../../ui/text/HtmlFrame.tsx";
import { LongText } from "../../../ui/text/LongText.tsx";
import { saveText } from "../../../ui/text/save-text.ts";
import { OwnTabs } from "../../../ui/Tabs.tsx";
import { useFrame } from "../../../ui/text/useFrame.ts";
import { NestedValue } from "./NestedValue.tsx";
import "./document.css";

/** A page in every requested format. */
export function DocumentView({ document }: { document: PageDocument }) {
  return (
    <OwnTabs
      label="Formats"
      tabs={documentParts(document).map((part) => ({
        id: part.id,
        name: part.name,
        ...(part.kind === "addresses" ? { count: part.addresses.length } : {}),
        panel: () => <Part key={part.id} part={part} />,
      }))}
    />
  );
}

function Part({ part }: { part: DocumentPart }) {
  const [shown, setShown] = useState("preview");
  return (
    <div className="document-part">
      <div className="spread">
        {part.kind === "html" ? (
          <Segmented label="Shown as" value={shown} choices={SHAPES} onChange={setShown} />
        ) : (
          <span className="soft num">{part.size}</span>
        )}
        <span className="row">
          {part.kind === "html" ? <span className="soft num">{part.size}</span> : null}
          {part.kind === "pictures" ? null : <Keep part={part} />}
        </span>
      </div>
      {part.isCut ? <p className="document-cut">Truncated: the page was too long.</p> : null}
      <Body part={part} isSource={shown === "source"} />
    </div>
  );
}

const SHAPES = [
  { value: "preview", name: "Preview" },
  { value: "source", name: "Source" },
];

function Keep({ part }: { part: Exclude<DocumentPart, { kind: "pictures" }> }) {
  return (
    <>
      <CopyButton text={part.text}>Copy</CopyButton>
      <Button size="small" icon="download" onClick={() => saveText(part.file, part.type, part.text)}>
        Download
      </Button>
    </>
  );
}

function Body({ part, isSource }: { part: DocumentPart; isSource: boolean }) {
  switch (part.kind) {
    case "text":
      return <LongText text={part.text} label={part.name} />;
    case "html":
      return isSource ? (
        <LongText text={part.text} label={`${part.name}, source`} code />
      ) : (
        <>
          <p className="soft document-note wrap">{part.note} Scripts and external resources are disabled.</p>
          <Preview html={part.text} label={part.name} />
        </>
      );
    case "addresses":
      return part.addresses.length === 0 ? (
        <p className="soft">None on the page.</p>
      ) : (
        <Addresses urls={part.addresses} label={part.name} />
      );
    case "pictures":
      return <Pictures ids={part.artifacts} />;
    case "facts":
      return (
        <KeyValue
          pairs={Object.entries(part.facts).map(([name, value]) => ({ name, value: <NestedValue value={value} /> }))}
        />
      );
  }
}

function Preview({ html, label }: { html: string; label: string }) {
  return <HtmlFrame frame={useFrame({ html })} label={`${label}, preview`} />;
}

function Pictures({ ids }: { ids: readonly string[] }) {
  return (
    <>
      {ids.map((id, n) => {
        const href = addressOf("getArtifact", { params: { artifact_id: id } });
        return (
          <figure key={id} className="document-picture">
            <img src={href} alt={`Screenshot ${n + 1}`} loading="lazy" />
            <figcaption>
              <LinkButton href={href} download="" size="small" icon="download">
                Download
              </LinkButton>
            </figcaption>
          </figure>
        );
      })}
    </>
  );
}
