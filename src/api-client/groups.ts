/** Methods of the names: the ids of the address in order, then the body or the query, then how to call. */
import type { Listing } from "./paging.ts";
import { type NAMES } from "./names.ts";
import type { Answer, Body, CallOptions, Input, PagedRoute, PathArgs, Query, Route, Row } from "./types.ts";

/** The input behind the ids; it may be left out where nothing in it is needed. */
type Last<Value> = [Value] extends [undefined] ? [] : [object] extends [Value] ? [payload?: Value] : [payload: Value];

/** The body is an argument; a query beside it goes into the options. */
type Payload<R extends Route> = [Body<R>] extends [undefined] ? Input<R>["query"] : Input<R>["body"];
type Beside<R extends Route> = [Body<R>] extends [undefined]
  ? CallOptions
  : CallOptions & ([Query<R>] extends [undefined] ? unknown : { query?: Query<R> });

type Method<R extends Route> = (
  ...args: [
    ...PathArgs<R>,
    ...Last<NonNullable<Payload<R>> extends never ? undefined : Payload<R>>,
    options?: Beside<R>,
  ]
) => R extends PagedRoute ? Listing<Row<R>, Answer<R>> : Promise<Answer<R>>;

type Table = typeof NAMES;

export type Groups = {
  readonly [Group in keyof Table]: {
    readonly [Name in keyof Table[Group]]: Table[Group][Name] extends Route ? Method<Table[Group][Name]> : never;
  };
};
