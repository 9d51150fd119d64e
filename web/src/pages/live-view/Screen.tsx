import { type ClipboardEvent, type PointerEvent, useEffect, useRef } from "react";
import {
  clickMessages,
  dragDelta,
  keyMessage,
  mouseMessage,
  pointOnPage,
  pressMessages,
  useOfKey,
  wheelDelta,
} from "./logic/live-input.ts";
import type { LiveViewHook } from "./useLiveView.ts";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
/** A finger that moves less taps. */
const TAP_PX = 8;
/** An on-screen keyboard deletes only what is there. */
const SENTINEL = " ";

/** The picture of the page, and what the user does on it. A text field of its own takes the keys and what is pasted. */
export function Screen({
  view: { canvas, size, state, send },
  isPhone,
  isZoomed,
  onLeave,
}: {
  view: LiveViewHook;
  /** The page takes touches. */
  isPhone: boolean;
  /** In its real size, to be moved with the finger. */
  isZoomed: boolean;
  /** The keyboard leaves the page. */
  onLeave: () => void;
}) {
  const keys = useRef<HTMLTextAreaElement>(null);
  const finger = useRef<{ x: number; y: number; hasMoved: boolean } | null>(null);
  const moves = useRef<{ frame: number; message: object | null }>({ frame: 0, message: null });
  const controls = state?.controls === true;
  const title = state?.tabs.find(({ isShown }) => isShown)?.title ?? "";

  const at = (event: { clientX: number; clientY: number }) => {
    const box = canvas.current?.getBoundingClientRect();
    return box === undefined || size.current === null ? null : pointOnPage(box, size.current, event);
  };
  /** One movement per picture of this screen is enough; a click sends the last one before it. */
  const flush = () => {
    const { message } = moves.current;
    moves.current.message = null;
    if (message !== null) send(message);
  };
  const later = (message: object) => {
    moves.current.message = message;
    cancelAnimationFrame(moves.current.frame);
    moves.current.frame = requestAnimationFrame(flush);
  };

  useEffect(() => {
    const element = canvas.current;
    if (element === null || !controls) return;
    const press = (event: MouseEvent) => {
      const point = at(event);
      // The text field keeps the focus.
      event.preventDefault();
      keys.current?.focus({ preventScroll: true });
      if (point === null) return;
      flush();
      send(mouseMessage("down", point, event, IS_MAC));
      const release = (up: MouseEvent) => {
        const end = at(up);
        flush();
        if (end !== null) send(mouseMessage("up", end, up, IS_MAC));
        if (up.buttons === 0) window.removeEventListener("mouseup", release);
      };
      if (event.buttons === 1 || event.buttons === 2 || event.buttons === 4)
        window.addEventListener("mouseup", release);
    };
    const move = (event: MouseEvent) => {
      const point = at(event);
      if (point !== null) later(mouseMessage("move", point, event, IS_MAC));
    };
    // React's listeners cannot keep the dashboard from scrolling.
    const wheel = (event: WheelEvent) => {
      const point = at(event);
      if (point === null || event.ctrlKey) return;
      event.preventDefault();
      flush();
      send({ type: "wheel", ...point, ...wheelDelta(event), modifiers: 0 });
    };
    const menu = (event: MouseEvent) => event.preventDefault();
    element.addEventListener("mousedown", press);
    element.addEventListener("mousemove", move);
    element.addEventListener("wheel", wheel, { passive: false });
    element.addEventListener("contextmenu", menu);
    return () => {
      element.removeEventListener("mousedown", press);
      element.removeEventListener("mousemove", move);
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("contextmenu", menu);
      cancelAnimationFrame(moves.current.frame);
    };
  }, [controls, canvas, send]);

  const touch = (what: "start" | "move" | "end" | "cancel") => (event: PointerEvent) => {
    if (event.pointerType === "mouse" || !controls) return;
    const point = at(event);
    if (point === null) return;
    if (what === "start") {
      // No mouse events besides.
      event.preventDefault();
      keys.current?.focus({ preventScroll: true });
      finger.current = { x: event.clientX, y: event.clientY, hasMoved: false };
    }
    const begun = finger.current;
    if (begun === null) return;
    const moved = { x: event.clientX - begun.x, y: event.clientY - begun.y };
    if (isPhone && !isZoomed) send({ type: "touch", event: what, points: [{ ...point, id: 0 }] });
    else if (what === "end" && !begun.hasMoved) for (const message of clickMessages(point)) send(message);
    else if (what === "move" && (begun.hasMoved || Math.hypot(moved.x, moved.y) > TAP_PX)) {
      const box = canvas.current?.getBoundingClientRect();
      finger.current = { x: event.clientX, y: event.clientY, hasMoved: true };
      if (!isZoomed && box !== undefined && size.current !== null)
        send({ type: "wheel", ...point, ...dragDelta(box, size.current, moved), modifiers: 0 });
    }
    if (what === "end" || what === "cancel") finger.current = null;
  };

  useEffect(() => {
    const field = keys.current;
    if (field === null) return;
    const write = (text: string | null) => text !== null && text !== "" && send({ type: "text", text });
    // What on-screen keyboards and input methods write.
    const before = (event: InputEvent) => {
      if (event.isComposing) return;
      const key = PRESSES[event.inputType];
      if (key !== undefined) for (const message of pressMessages(key)) send(message);
      else if (event.inputType.startsWith("insert") && event.inputType !== "insertFromPaste") write(event.data);
      event.preventDefault();
    };
    const composed = (event: CompositionEvent) => {
      write(event.data);
      field.value = SENTINEL;
    };
    field.addEventListener("beforeinput", before);
    field.addEventListener("compositionend", composed);
    return () => {
      field.removeEventListener("beforeinput", before);
      field.removeEventListener("compositionend", composed);
    };
  }, [send]);

  const paste = (event: ClipboardEvent) => {
    event.preventDefault();
    const text = event.clipboardData.getData("text/plain");
    if (text !== "") send({ type: "text", text });
  };

  return (
    <div className={`live-screen ${isZoomed ? "live-screen-zoomed" : ""} ${controls ? "live-screen-mine" : ""}`}>
      <canvas
        ref={canvas}
        width={1280}
        height={720}
        role="img"
        aria-label={title === "" ? "Picture of the page" : `Picture of the page: ${title}`}
        onPointerDown={touch("start")}
        onPointerMove={touch("move")}
        onPointerUp={touch("end")}
        onPointerCancel={touch("cancel")}
      />
      <textarea
        ref={keys}
        className="live-keys"
        aria-label="Keyboard of the page. Shift and Escape leave it."
        autoCapitalize="off"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        defaultValue={SENTINEL}
        disabled={!controls}
        onPaste={paste}
        onKeyDown={(event) => {
          const use = useOfKey({ ...keyOf(event), isComposing: event.nativeEvent.isComposing }, IS_MAC);
          if (use === "text") return;
          event.preventDefault();
          if (use === "leave") return onLeave();
          flush();
          send(keyMessage("down", keyOf(event), IS_MAC));
        }}
        onKeyUp={(event) => {
          if (useOfKey({ ...keyOf(event), isComposing: event.nativeEvent.isComposing }, IS_MAC) === "send")
            send(keyMessage("up", keyOf(event), IS_MAC));
        }}
      />
    </div>
  );
}

const PRESSES: Readonly<Record<string, "Backspace" | "Delete" | "Enter">> = {
  deleteContentBackward: "Backspace",
  deleteWordBackward: "Backspace",
  deleteContentForward: "Delete",
  insertLineBreak: "Enter",
  insertParagraph: "Enter",
};

function keyOf(event: {
  key: string;
  code: string;
  keyCode: number;
  location: number;
  repeat: boolean;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}) {
  const { key, code, keyCode, location, repeat, altKey, ctrlKey, metaKey, shiftKey } = event;
  return { key, code, keyCode, location, repeat, altKey, ctrlKey, metaKey, shiftKey };
}
