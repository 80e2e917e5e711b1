// The limits of a key: a cell of the list of keys, and a dialog that changes them.
import { NumberInput, Text } from "@mantine/core";
import { useState } from "react";
import { type ApiKey, type ApiKeyLimits, putApikeysByKeyIdLimits } from "../../api/generated.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { useChange } from "./data.ts";

const units = { requestsPerSecond: "requests", pointsPerSecond: "points", bytesPerSecond: "bytes" } as const;
const names = Object.keys(units) as (keyof typeof units)[];

/** Such as `50 requests/s`; nothing for a key without limits. */
export const limitTexts = (limits: ApiKeyLimits = {}): string[] =>
  names.flatMap((name) => {
    const perSecond = limits[name];
    return perSecond === undefined ? [] : [`${perSecond.toLocaleString("en")} ${units[name]}/s`];
  });

interface LimitKeyProps {
  readonly apiKey: ApiKey;
  readonly account: string;
  onClose(): void;
}

export function LimitKey({ apiKey, account, onClose }: LimitKeyProps) {
  const [limits, setLimits] = useState<ApiKeyLimits>(apiKey.limits ?? {});
  const save = useChange({
    change: (project, wanted: ApiKeyLimits) => putApikeysByKeyIdLimits(project, apiKey.id, wanted),
    done: () => `Changed the limits of a key of ${account}.`,
    onDone: onClose,
  });
  const set = (name: keyof ApiKeyLimits, value: string | number) =>
    setLimits({ ...limits, [name]: value === "" ? undefined : Number(value) });
  return (
    <EditDialog
      title={`Limits of the key ${apiKey.id} of ${account}`}
      {...{ isPending: save.isPending, problem: save.error, onClose }}
      onSave={() => save.mutate(limits)}
    >
      {names.map((name, index) => (
        <NumberInput
          key={name}
          label={`${units[name]} a second`.replace(/^./, (letter) => letter.toUpperCase())}
          placeholder="No limit"
          value={limits[name] ?? ""}
          onChange={(value) => set(name, value)}
          min={1}
          allowDecimal={false}
          thousandSeparator=","
          hideControls
          data-autofocus={index === 0 || undefined}
        />
      ))}
      <Text size="sm" c="var(--text-quiet)">
        Points that are written or read, and bytes of requests and responses. Requests beyond a limit wait up
        to a second; then they are refused, and programs should try again later. Each server counts by itself.
      </Text>
    </EditDialog>
  );
}
