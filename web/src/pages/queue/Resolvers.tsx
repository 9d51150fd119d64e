import { useQueries } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call } from "../../api/client.ts";
import { keyOf, useCall, useChange } from "../../api/query.ts";
import type { Resolver } from "../../api/types.ts";
import { RESOLVER_LIMIT } from "../../logic/limits.ts";
import { resolverNames } from "../../logic/lanes.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { EditableNumber } from "../../ui/table/EditableNumber.tsx";
import { Input } from "../../ui/Field.tsx";
import { EmptyState } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";

/** Limits that items of several sites share, such as the quota of an API. */
export function Resolvers() {
  const [asked, setAsked] = useState<readonly string[]>([]);
  const [text, setText] = useState("");
  const config = useCall("getConfig");
  const items = useCall("listQueueItems", { query: { limit: 1000 } });
  const configured = config.data?.find(({ name }) => name === "APP_MAX_PER_RESOLVER")?.value ?? null;
  const names = [...new Set([...resolverNames(configured, items.data ?? []), ...asked])];
  const resolvers = useQueries({
    queries: names.map((name) => ({
      queryKey: keyOf("getResolver", { params: { name } }),
      queryFn: () => call("getResolver", { params: { name } }),
    })),
  });
  const set = useChange("setResolver", { invalidates: ["getResolver"], onError: toastError });
  const save = (name: string, limit: number | null, before: number | null) =>
    set.mutate(
      { params: { name }, body: { limit } },
      {
        onSuccess: () =>
          toast(`${name}: ${limit === null ? "as configured" : `${limit} at once`}`, "good", {
            name: "Undo",
            run: () => set.mutate({ params: { name }, body: { limit: before } }),
          }),
      },
    );
  const columns: readonly Column<Resolver>[] = [
    { id: "name", name: "Resolver", width: "minmax(0, 1fr)", phone: "head", cell: ({ resolver }) => resolver },
    {
      id: "limit",
      name: "At once",
      width: "120px",
      cell: ({ resolver, limit, configured: usual }) => (
        <EditableNumber
          label={`Limit of ${resolver}`}
          value={limit === usual ? null : limit}
          inherited={usual === null ? "any" : String(usual)}
          rule={RESOLVER_LIMIT}
          onSave={(value) => save(resolver, value, limit === usual ? null : limit)}
        />
      ),
    },
    {
      id: "configured",
      name: "Configured",
      width: "120px",
      align: "end",
      cell: ({ configured: usual }) => <span className="num">{usual ?? "no limit"}</span>,
    },
  ];
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const name = text.trim();
    if (name !== "") setAsked((old) => [...old, name]);
    setText("");
  };
  return (
    <div className="stack">
      <form className="queue-ask" onSubmit={onSubmit}>
        <Input
          label="Name of a resolver"
          bare
          placeholder="Name of a resolver"
          pattern="[A-Za-z0-9_.:\-]+"
          maxLength={128}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit">Show</Button>
      </form>
      <Card flush>
        <Table
          label="Resolvers"
          columns={columns}
          rows={resolvers.flatMap(({ data }) => (data === undefined ? [] : [data]))}
          keyOf={({ resolver }) => resolver}
          empty={
            <EmptyState icon="queue" title="No item names a resolver">
              Items with the same resolver share a limit, whichever site they are at: the quota of an API, for example.
              Give items a <code>resolver</code>, or set <code>APP_MAX_PER_RESOLVER</code>.
            </EmptyState>
          }
        />
      </Card>
    </div>
  );
}
