import { useCall } from "./query.ts";

/** Changes of the caller's key hold within a second; this is how soon the page shows them without a refused call. */
const LOOK_MS = 60_000;

/** Who is signed in, and what they may do. */
export const useOwnRights = () => useCall("getOwnKey", undefined, { staleTime: LOOK_MS, refetchInterval: LOOK_MS });
