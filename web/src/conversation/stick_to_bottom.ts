import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR = 48;

/** Follow what is added at the end, unless the reader has scrolled up. */
export function useStickToBottom(scroller: RefObject<HTMLDivElement | null>, size: number) {
  const content = useRef<HTMLDivElement>(null);
  const isStuck = useRef(true);
  const last = useRef({ top: 0, height: 0 });
  const [isAtBottom, setAtBottom] = useState(true);

  const pin = useCallback(() => {
    const element = scroller.current;
    if (element && isStuck.current) element.scrollTop = element.scrollHeight;
  }, [scroller]);

  useLayoutEffect(pin, [pin, size]);
  useEffect(() => {
    const element = scroller.current!;
    const scrolled = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      const isUp = scrollTop < last.current.top - 1 && scrollHeight >= last.current.height;
      if (scrollHeight - scrollTop - clientHeight < NEAR) isStuck.current = true;
      else if (isUp) isStuck.current = false;
      last.current = { top: scrollTop, height: scrollHeight };
      setAtBottom(isStuck.current);
    };
    const observer = new ResizeObserver(pin);
    observer.observe(element);
    if (content.current) observer.observe(content.current);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", scrolled);
    };
  }, [scroller, pin]);

  const toBottom = useCallback(() => {
    isStuck.current = true;
    setAtBottom(true);
    pin();
  }, [pin]);
  return { isAtBottom, toBottom, content };
}
