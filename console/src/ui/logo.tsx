// The product's mark: water that runs through a mill race.

export function Logo({ size = 28 }: { size?: number }) {
  const wave = "c3.7 0 3.7-3 7.3-3s3.7 3 7.4 3 3.7-3 7.3-3";
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" role="img" aria-label="Millrace">
      <rect width="32" height="32" rx="7" fill="#0f6b78" />
      <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round">
        <path d={`M5 12${wave}`} />
        <path d={`M5 18${wave}`} opacity=".8" />
        <path d={`M5 24${wave}`} opacity=".6" />
      </g>
    </svg>
  );
}
