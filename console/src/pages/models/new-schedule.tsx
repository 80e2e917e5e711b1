// The button that opens the form of a new schedule.
import { Button } from "@mantine/core";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { Model } from "../../api/generated.ts";
import { ScheduleForm } from "./schedule-form.tsx";

export function NewScheduleButton({ models }: { models: readonly Model[] }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="xs" leftSection={<Plus size={14} aria-hidden />} onClick={() => setIsOpen(true)}>
        New schedule
      </Button>
      {isOpen && <ScheduleForm models={models} onClose={() => setIsOpen(false)} />}
    </>
  );
}
