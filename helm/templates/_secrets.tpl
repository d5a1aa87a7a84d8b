{{/*
Every secret that was given, as a list: the volume and the file it becomes, where the configuration names that file, and the
Secret and key it comes from; `value` when this chart writes that Secret. Keys of the records' encryption are a list at
their place, in this order: each has its id.
*/}}
{{- define "postern.secretFiles" -}}
{{- $secrets := .Values.secrets -}}
{{- $known := list
  (dict "file" "bootstrap-token" "key" "bootstrap-token" "at" (list "bootstrap" "token") "from" $secrets.bootstrapToken)
  (dict "file" "records-password" "key" "records-password" "at" (list "stores" "records_password") "from" $secrets.recordsPassword)
  (dict "file" "sessions-password" "key" "sessions-password" "at" (list "stores" "sessions_password") "from" $secrets.sessionsPassword)
  (dict "file" "sessions-sentinel-password" "key" "sessions-sentinel-password" "at" (list "stores" "sessions_sentinel_password") "from" $secrets.sessionsSentinelPassword)
-}}
{{- range $name, $from := $secrets.identityProviders -}}
{{- $known = append $known (dict "file" (printf "identity-provider-%s" $name) "key" "client-secret" "at" (list "identity_providers" $name "client_secret") "from" $from) -}}
{{- end -}}
{{- range $secrets.recordsEncryption -}}
{{- $known = append $known (dict "file" (printf "records-encryption-%s" .id) "key" .id "at" (list "stores" "records_encryption") "encryptionId" .id "from" .) -}}
{{- end -}}
{{- range $name, $from := $secrets.assertions -}}
{{- $known = append $known (dict "volume" "postern-assertions" "file" (printf "assertion-%s" $name) "key" "assertion-secret" "at" (list "upstreams" $name "assertion" "secret") "from" $from) -}}
{{- end -}}
{{- $given := list -}}
{{- range $known -}}
{{- $placed := dict "volume" (.volume | default "postern-secrets") "file" .file "at" .at -}}
{{- if .from.existingSecret -}}
{{- $given = append $given (merge $placed (dict "encryptionId" .encryptionId "secret" .from.existingSecret "key" (.from.key | default .key))) -}}
{{- else if .from.value -}}
{{- $given = append $given (merge $placed (dict "secret" (include "postern.fullname" $) "key" .file "value" .from.value)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $given -}}
{{- end -}}

{{/* The volumes of those files that there are, each with its folder in the container. */}}
{{- define "postern.secretVolumes" -}}
{{- $folders := dict "postern-secrets" "/run/secrets/postern" "postern-assertions" "/run/secrets/postern-assertions" -}}
{{- $there := dict -}}
{{- range include "postern.secretFiles" . | fromYamlArray -}}
{{- $there = set $there .volume (get $folders .volume) -}}
{{- end -}}
{{- toYaml $there -}}
{{- end -}}

{{/*
What changes when a secret does. It stands in the pod, which more people may read than the Secret: of one that exists it
has the version and not the contents, and a value goes through scrypt first, or a weak one could be guessed from it.
Outside a cluster (helm template) there is nothing to look up, and the names count alone.
*/}}
{{- define "postern.secretChecksum" -}}
{{- $seen := list -}}
{{- $values := list -}}
{{- range include "postern.secretFiles" . | fromYamlArray -}}
{{- $seen = append $seen (omit . "value") -}}
{{- if .value -}}
{{- $values = append $values .value -}}
{{- else -}}
{{- $seen = append $seen (include "postern.versionOf" (lookup "v1" "Secret" $.Release.Namespace .secret)) -}}
{{- end -}}
{{- end -}}
{{- if $values -}}
{{- $salt := printf "%s/%s" .Release.Namespace (include "postern.fullname" .) -}}
{{- $seen = append $seen (derivePassword 1 "maximum" (toJson $values) $salt "checksum/secret") -}}
{{- end -}}
{{- $seen | toJson | sha256sum -}}
{{- end -}}

{{/* Which version of a resource the cluster has; nothing when it has none. */}}
{{- define "postern.versionOf" -}}
{{- with .metadata -}}{{- .uid }}/{{ .resourceVersion -}}{{- end -}}
{{- end -}}
