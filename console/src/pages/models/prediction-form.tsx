// Tries a prediction with the active version of a model.
import { Alert, Box, Button, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Model, putAnalyticsModelsByModelIdPredict } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { JsonField, jsonIn } from "./json-field.tsx";
import classes from "./models.module.css";
import { logsKey } from "./models-data.ts";

export function PredictionForm({ model }: { model: Model }) {
  const project = useProject();
  const client = useQueryClient();
  const [text, setText] = useState("[\n  { }\n]");
  const { value: instances } = jsonIn(text, "list");
  const predict = useMutation({
    mutationFn: (sent: readonly unknown[]) =>
      putAnalyticsModelsByModelIdPredict(project, model.id, { instances: [...sent] }),
    // The output of the code is in the log of the version, which may be open.
    onSettled: () => client.invalidateQueries({ queryKey: logsKey(project) }),
  });
  if (model.activeVersionId === null)
    return (
      <Text size="sm">A prediction needs an active version. Deploy one, and make it the active one.</Text>
    );
  const { error, predictions = predict.data?.data?.predictions } = predict.data ?? {};
  return (
    <Stack gap="xs">
      <JsonField label="Instances, a JSON list" kind="list" minRows={3} value={text} onChange={setText} />
      <Button
        size="xs"
        style={{ alignSelf: "flex-start" }}
        loading={predict.isPending}
        disabled={instances === undefined}
        onClick={() => instances && predict.mutate(instances)}
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
