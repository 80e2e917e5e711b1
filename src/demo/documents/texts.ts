// Procedures and records as text.
import type { Description } from "../description.ts";

export const columnStartUp = `# 24-SOP-001 Start-up of the ester column

Before the start: cooling water at 24-E-2040 (24-FT-2048 above 30 m3/h), nitrogen purge complete, crude tank
23-T-1300 above 40 %.

1. Fill the sump to 50 % (24-LT-2033) with 24-FC-2005 in MAN at 20 %.
2. Open reboiler steam in steps of 5 % every ten minutes. Do not exceed 3 °C a minute at 24-TT-2030.
3. When 24-LT-2042 rises above 30 %, start a reflux pump. Run at total reflux.
4. When 24-TT-2031 is at 88 °C for 15 minutes, set 24-TC-2031 to AUTO, then 24-FC-2005 to CAS.
5. Send distillate to the tank of the day only when 24-AT-2051 is above 99.5 %.

Stop the start-up if 24-PT-2041 exceeds 1.2 bar.
`;

export const pumpChangeOver = `# 23-SOP-004 Change over of the ethanol feed pumps

After a trip of 23-P-1012A the premix lacks ethanol: the ratio control reduces the acid feed with it.

1. Check 23-PM-1012A for a locked rotor; leave it off.
2. Start 23-P-1012B with 23-FV-1012 below 60 %, else the flow overshoots.
3. Watch 23-FT-1012 and 23-FT-1022 until both are stable.
4. Write a work order with the last values of 23-VT-1012A and 23-TT-1012A.
`;

/** The instruments that were calibrated last, with their deviations. */
export function calibrations({ series }: Description): string {
  const measured = series.filter(({ kind, name }) => kind === "number" && /-(FT|PT|TT|LT|AT)-/.test(name));
  const lines = measured.map(({ name, low, high, unit }, at) => {
    const found = (((at * 37) % 21) - 10) / 50;
    const left = (((at * 17) % 11) - 5) / 100;
    const day = new Date(Date.UTC(2025, at % 12, 1 + ((at * 5) % 28))).toISOString().slice(0, 10);
    return `${name},${day},${low},${high},${unit},${found.toFixed(2)},${left.toFixed(2)}`;
  });
  return `${["tag,date,low,high,unit,found %,left %", ...lines].join("\n")}\n`;
}
