import { type RefObject, useLayoutEffect, useState } from "react";

/** How wide a box is, before anything is painted and whenever that changes; Infinity until it is drawn. */
export function useBoxWidth(box: RefObject<HTMLElement | null>, drawnAnew: readonly unknown[] = []): number {
  const [width, setWidth] = useState(Infinity);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    // With its scrollbar, if it has one: that would come and go with what is drawn for the width.
    const measure = () => setWidth(element.offsetWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, ...drawnAnew]);
  return width;
}
