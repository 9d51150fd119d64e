/** A viewer's mouse, touches and keys as messages to the server: see docs/live-view.md. */

/** Bits as in the DevTools protocol. */
const MODIFIERS = { alt: 1, ctrl: 2, meta: 4, shift: 8 } as const;

interface Size {
  width: number;
  height: number;
}

interface Box extends Size {
  left: number;
  top: number;
}

interface Keys {
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

/** A position on the scaled picture as one on the page, in CSS pixels; positions beside it are at its edge. */
export function pointOnPage(box: Box, page: Size, at: { clientX: number; clientY: number }): { x: number; y: number } {
  const scaled = (offset: number, shown: number, whole: number) =>
    shown <= 0 ? 0 : Math.round(Math.min(Math.max(0, whole - 1), Math.max(0, (offset / shown) * whole)) * 100) / 100;
  return {
    x: scaled(at.clientX - box.left, box.width, page.width),
    y: scaled(at.clientY - box.top, box.height, page.height),
  };
}

/** The page is in a browser on Linux: what Command does on a Mac, Ctrl does there. */
export function modifiersOf(keys: Keys, isMac: boolean): number {
  const ctrl = keys.ctrlKey || (isMac && keys.metaKey);
  const meta = keys.metaKey && !isMac;
  return (
    (keys.altKey ? MODIFIERS.alt : 0) |
    (ctrl ? MODIFIERS.ctrl : 0) |
    (meta ? MODIFIERS.meta : 0) |
    (keys.shiftKey ? MODIFIERS.shift : 0)
  );
}

const BUTTONS = ["left", "middle", "right"] as const;

export function mouseMessage(
  event: "move" | "down" | "up",
  at: { x: number; y: number },
  mouse: Keys & { button: number; buttons: number; detail: number },
  isMac: boolean,
) {
  return {
    type: "mouse",
    event,
    ...at,
    button: event === "move" ? "none" : (BUTTONS[mouse.button] ?? "none"),
    buttons: mouse.buttons & 7,
    clicks: event === "move" ? 0 : Math.min(3, Math.max(1, mouse.detail)),
    modifiers: modifiersOf(mouse, isMac),
  };
}

/** A tap on the picture of a page without a touch screen. */
export function clickMessages(at: { x: number; y: number }) {
  const none = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, button: 0, detail: 1 };
  return [
    mouseMessage("move", at, { ...none, buttons: 0 }, false),
    mouseMessage("down", at, { ...none, buttons: 1 }, false),
    mouseMessage("up", at, { ...none, buttons: 0 }, false),
  ];
}

interface KeyEvent extends Keys {
  key: string;
  code: string;
  keyCode: number;
  location: number;
  repeat: boolean;
}

/** `text`: the browser turns it into text, which arrives as such; `leave`: the user leaves the picture. */
export type KeyUse = "send" | "text" | "leave";

export function useOfKey(event: KeyEvent & { isComposing: boolean }, isMac: boolean): KeyUse {
  if (event.isComposing || event.keyCode === 229 || ["Unidentified", "Dead", "Process"].includes(event.key))
    return "text";
  if (event.key === "Escape" && event.shiftKey) return "leave";
  const isShortcut = isMac ? event.metaKey : event.ctrlKey;
  if (isShortcut && !event.altKey && event.key.toLowerCase() === "v") return "text";
  // AltGr writes characters.
  return "send";
}

export function keyMessage(event: "down" | "up", key: KeyEvent, isMac: boolean) {
  // AltGr is reported as Ctrl and Alt: its characters are text.
  const isAltGr = [...key.key].length === 1 && key.altKey && key.ctrlKey;
  return {
    type: "key",
    event,
    key: isMac && key.key === "Meta" ? "Control" : key.key.slice(0, 40),
    code: key.code.slice(0, 40),
    key_code: Math.min(255, key.keyCode),
    location: key.location,
    modifiers: isAltGr ? 0 : modifiersOf(key, isMac),
    repeat: key.repeat,
  };
}

/** A key that an on-screen keyboard reports only by its effect. */
export function pressMessages(key: "Backspace" | "Delete" | "Enter") {
  const keyCode = { Backspace: 8, Delete: 46, Enter: 13 }[key];
  const message = { type: "key", key, code: key, key_code: keyCode, location: 0, modifiers: 0, repeat: false };
  return [
    { ...message, event: "down" },
    { ...message, event: "up" },
  ];
}

const LINE_PX = 40;
const PAGE_PX = 600;

/** In CSS pixels of the page: wheels may count lines or pages. */
export function wheelDelta({ deltaX, deltaY, deltaMode }: { deltaX: number; deltaY: number; deltaMode: number }) {
  const unit = deltaMode === 1 ? LINE_PX : deltaMode === 2 ? PAGE_PX : 1;
  return { dx: deltaX * unit, dy: deltaY * unit };
}

/** A drag on the picture as a movement of the page. */
export function dragDelta(box: Size, page: Size, moved: { x: number; y: number }) {
  const scale = box.width <= 0 ? 1 : page.width / box.width;
  return { dx: Math.round(0 - moved.x * scale), dy: Math.round(0 - moved.y * scale) };
}
