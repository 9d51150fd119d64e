import { type RefObject, useLayoutEffect, useState } from "react";

/** Width of a box, before paint and on every change; Infinity until it is rendered. */
export function useBoxWidth(box: RefObject<HTMLElement | null>, drawnAnew: readonly unknown[] = []): number {
  const [width, setWidth] = useState(Infinity);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    // Including its scrollbar, which would come and go with what is rendered for the width.
    const measure = () => setWidth(element.offsetWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, ...drawnAnew]);
  return width;
}
