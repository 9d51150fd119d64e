/** Since 2025 a select may contain anything but other controls: an `<input>` or a second `<select>` ends it. */
import type { OpenElements } from "./open-elements.ts";
import { type Tag, TAGS } from "./tags.ts";

const SELECT = TAGS.get("select") as Tag;
const OPTGROUP = TAGS.get("optgroup") as Tag;

/** True when a select was open. */
export function closeSelect(open: OpenElements): boolean {
  if (!open.tagInScope(SELECT)) return false;
  open.popThroughName("select");
  return true;
}

/** What `<option>` and `<optgroup>` close before they open. */
export function closeOption(open: OpenElements, tag: Tag): void {
  if (open.tagInScope(SELECT)) open.impliedEnds(tag.name === "option" ? OPTGROUP : undefined);
  else if (open.current.tag.name === "option") open.stack.pop();
}

/** An `<hr>` separates the options of a select, and is not inside one. */
export function leaveOptions(open: OpenElements): void {
  if (open.tagInScope(SELECT)) open.impliedEnds();
}
