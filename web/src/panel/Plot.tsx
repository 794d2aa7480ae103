/** A line of values from 0 to 1, the latest at the right. */
export function LinePlot({ values, most, label }: { values: number[]; most: number; label: string }) {
  const step = 100 / (most - 1);
  const first = 100 - (values.length - 1) * step;
  const points = values.map((each, index) => `${(first + index * step).toFixed(2)},${(29 - each * 28).toFixed(2)}`);
  return (
    <svg role="img" aria-label={label} viewBox="0 0 100 30" preserveAspectRatio="none" className="h-12 w-full text-accent">
      <path d="M0 29.5H100" stroke="var(--line)" strokeWidth="1" vectorEffect="non-scaling-stroke" />
      {points.length > 1 && (
        <>
          <path d={`M${points[0]} L${points.join(" ")} L100,29.5 L${first.toFixed(2)},29.5 Z`} fill="currentColor" opacity="0.12" />
          <path d={`M${points.join(" L")}`} fill="none" stroke="currentColor" strokeWidth="1.5" vectorEffect="non-scaling-stroke" strokeLinejoin="round" />
        </>
      )}
    </svg>
  );
}

export interface Bar {
  /** From the bottom up. */
  parts: { value: number; className: string }[];
  title: string;
}

/** A bar for each turn. */
export function BarPlot({ bars, label }: { bars: Bar[]; label: string }) {
  const sums = bars.map((each) => each.parts.reduce((sum, part) => sum + part.value, 0));
  const most = Math.max(...sums, 1e-9);
  const width = 100 / Math.max(bars.length, 12);
  return (
    <svg role="img" aria-label={label} viewBox="0 0 100 40" preserveAspectRatio="none" className="h-20 w-full">
      <path d="M0 39.5H100" stroke="var(--line)" strokeWidth="1" vectorEffect="non-scaling-stroke" />
      {bars.map((bar, index) => {
        let bottom = 39;
        return (
          <g key={index}>
            <title>{bar.title}</title>
            {bar.parts.map((part, at) => {
              const height = (part.value / most) * 37;
              bottom -= height;
              return <rect key={at} x={index * width + width * 0.12} y={bottom} width={width * 0.76} height={height} className={part.className} />;
            })}
          </g>
        );
      })}
    </svg>
  );
}
