import { useState } from "react";
import { useCall } from "../../api/query.ts";
import { snippetsOf } from "./logic/new-commands.ts";
import type { Form } from "./logic/new-form.ts";
import type { Json } from "./logic/new-values.ts";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Segmented } from "../../ui/Field.tsx";

const WAYS = [
  { value: "curl", name: "curl" },
  { value: "orb", name: "orb" },
  { value: "json", name: "JSON" },
] as const;

/** The form as commands that send the same request. */
export function Snippets({ form, job, read }: { form: Form; job: string | null; read: Json | null }) {
  const [way, setWay] = useState<"curl" | "orb" | "json">("curl");
  const [what, setWhat] = useState("run");
  const login = useCall("getLogin", undefined, { staleTime: Infinity });
  const server = { origin: location.origin, needsToken: login.data?.token_needed === true };
  const saves = job !== null || what === "save";
  const snippets = snippetsOf(form, server, saves ? { job, read } : null);
  return (
    <Card
      title="Same request as a command"
      actions={
        <Segmented
          label="Form of the command"
          value={way}
          choices={WAYS}
          onChange={(one) => setWay(one as typeof way)}
        />
      }
    >
      <div className="stack new-tight">
        {job === null ? (
          <Segmented
            label="What the command does"
            value={what}
            choices={[
              { value: "run", name: "Run once" },
              { value: "save", name: "Save as a job" },
            ]}
            onChange={setWhat}
          />
        ) : null}
        <Code text={snippets[way]} wrap label="Copy the command" />
        <p className="field-help">{NOTES[way]}</p>
      </div>
    </Card>
  );
}

const NOTES = {
  curl: "Sends exactly what the button sends.",
  orb: "Does the same from a terminal and shows progress.",
  json: "The request body, for your own program.",
};
