// Tries a prediction with the active version of a model.
import { Alert, Box, Button, Stack, Text, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { type Model, putAnalyticsModelsByModelIdPredict } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import classes from "./models.module.css";

export function PredictionForm({ model }: { model: Model }) {
  const project = useProject();
  const [text, setText] = useState("[\n  { }\n]");
  const instances = instancesIn(text);
  const predict = useMutation({
    mutationFn: (sent: unknown[]) =>
      putAnalyticsModelsByModelIdPredict(project, model.id, { instances: sent }),
  });
  if (model.activeVersionId === null)
    return (
      <Text size="sm">A prediction needs an active version. Deploy one, and make it the active one.</Text>
    );
  const { error, predictions = predict.data?.data?.predictions } = predict.data ?? {};
  return (
    <Stack gap="xs">
      <Textarea
        label="Instances, a JSON list"
        autosize
        minRows={3}
        maxRows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={typeof instances === "string" ? instances : undefined}
        classNames={{ input: "numbers" }}
        spellCheck={false}
      />
      <Button
        size="xs"
        style={{ alignSelf: "flex-start" }}
        loading={predict.isPending}
        disabled={typeof instances === "string"}
        onClick={() => typeof instances !== "string" && predict.mutate(instances)}
      >
        Predict
      </Button>
      <Refusal problem={predict.error} />
      {error && (
        <Alert color="red" role="alert" title="The code of the model failed">
          {error.message}
        </Alert>
      )}
      {predictions && (
        <Box
          component="pre"
          className={classes["output"]}
          tabIndex={0}
          role="region"
          aria-label="Predictions"
        >
          {JSON.stringify(predictions, null, 2)}
        </Box>
      )}
    </Stack>
  );
}

/** The instances, or why the text has none. */
function instancesIn(text: string): unknown[] | string {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : "Write a list: [ ... ]";
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}
