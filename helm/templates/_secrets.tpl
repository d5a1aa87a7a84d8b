{{/*
Every secret that was given, as a list: the file it becomes, where the configuration names that file, and the Secret
and key it comes from; `value` when this chart writes that Secret.
*/}}
{{- define "postern.secretFiles" -}}
{{- $secrets := .Values.secrets -}}
{{- $known := list
  (dict "file" "bootstrap-token" "at" (list "bootstrap" "token") "from" $secrets.bootstrapToken)
  (dict "file" "records-password" "at" (list "stores" "records_password") "from" $secrets.recordsPassword)
  (dict "file" "sessions-password" "at" (list "stores" "sessions_password") "from" $secrets.sessionsPassword)
  (dict "file" "sessions-sentinel-password" "at" (list "stores" "sessions_sentinel_password") "from" $secrets.sessionsSentinelPassword)
-}}
{{- range $name, $from := $secrets.identityProviders -}}
{{- $known = append $known (dict "file" (printf "identity-provider-%s" $name) "at" (list "identity_providers" $name "client_secret") "from" $from) -}}
{{- end -}}
{{- $given := list -}}
{{- range $known -}}
{{- if .from.existingSecret -}}
{{- $given = append $given (dict "file" .file "at" .at "secret" .from.existingSecret "key" (default "client-secret" .from.key)) -}}
{{- else if .from.value -}}
{{- $given = append $given (dict "file" .file "at" .at "secret" (include "postern.fullname" $) "key" .file "value" .from.value) -}}
{{- end -}}
{{- end -}}
{{- toYaml $given -}}
{{- end -}}

{{/* The folder of those files in the container. */}}
{{- define "postern.secretFolder" -}}/run/secrets/postern{{- end -}}

{{/*
What changes when a secret does: the values this chart writes, and what the cluster has under the names it was given.
Outside a cluster (helm template) there is nothing to look up, and the names count alone.
*/}}
{{- define "postern.secretChecksum" -}}
{{- $seen := list -}}
{{- range include "postern.secretFiles" . | fromYamlArray -}}
{{- $seen = append $seen . -}}
{{- if not .value -}}
{{- $seen = append $seen (dig "data" .key "" (lookup "v1" "Secret" $.Release.Namespace .secret)) -}}
{{- end -}}
{{- end -}}
{{- $seen | toJson | sha256sum -}}
{{- end -}}
