{{/* The configuration file: the values, with every secret by the file it is mounted as. */}}
{{- define "postern.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $folders := include "postern.secretVolumes" . | fromYaml -}}
{{- $encryptionKeys := list -}}
{{- range include "postern.secretFiles" . | fromYamlArray -}}
{{- $file := printf "%s/%s" (get $folders .volume) .file -}}
{{- if .encryptionId -}}
{{- $encryptionKeys = append $encryptionKeys (dict "id" .encryptionId "file" $file) -}}
{{- else -}}
{{- $found := dict "file" $file -}}
{{- range reverse .at -}}
{{- $found = dict . $found -}}
{{- end -}}
{{- $config = mergeOverwrite $config $found -}}
{{- end -}}
{{- end -}}
{{- if $encryptionKeys -}}
{{- $config = mergeOverwrite $config (dict "stores" (dict "records_encryption" (dict "keys" $encryptionKeys))) -}}
{{- end -}}
{{- if .Values.tls.existingSecret -}}
{{- $tls := dict "cert" "/run/tls/postern/tls.crt" "key" "/run/tls/postern/tls.key" -}}
{{- if .Values.tls.clientCa.existingSecret -}}
{{- $tls = merge $tls (dict "client_ca" "/run/tls/postern-clients/ca.crt" "client_certificate" .Values.tls.clientCertificate) -}}
{{- end -}}
{{- $config = mergeOverwrite $config (dict "listen" (dict "tls" $tls)) -}}
{{- end -}}
{{- $workers := include "postern.workers" . | int -}}
{{- if and (kindIs "invalid" $config.workers) (gt $workers 1) -}}
{{- $config = set $config "workers" $workers -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* What changes when the configuration does: the file, or what the cluster has under the name it was given. */}}
{{- define "postern.configChecksum" -}}
{{- if .Values.existingConfig -}}
{{- $found := dig "data" .Values.existingConfigKey "" (lookup "v1" "ConfigMap" .Release.Namespace .Values.existingConfig) -}}
{{- list .Values.existingConfig .Values.existingConfigKey $found | toJson | sha256sum -}}
{{- else -}}
{{- include "postern.config" . | sha256sum -}}
{{- end -}}
{{- end -}}

{{/* "true" when that store (records or sessions) is an SQLite file, or nobody here can tell what it is. */}}
{{- define "postern.isFile" -}}
{{- $address := index .root.Values.config.stores .store | default "sqlite:" -}}
{{- if or (not (kindIs "string" $address)) (hasPrefix "sqlite:" $address) -}}true{{- end -}}
{{- end -}}

{{/* "true" when any store is. */}}
{{- define "postern.hasFiles" -}}
{{- if or (include "postern.isFile" (dict "root" . "store" "records")) (include "postern.isFile" (dict "root" . "store" "sessions")) -}}true{{- end -}}
{{- end -}}

{{/* "true" for a host that only the pod itself reaches. */}}
{{- define "postern.isLoopback" -}}
{{- if regexMatch "^(localhost|127\\.[0-9.]+|\\[?::1\\]?)$" (toString .) -}}true{{- end -}}
{{- end -}}

{{/* The whole seconds of a duration such as 500ms or 2m, rounded up. */}}
{{- define "postern.seconds" -}}
{{- $count := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" -}}
{{- div (add $count 999) 1000 -}}
{{- else -}}
{{- mul $count (get (dict "s" 1 "m" 60 "h" 3600 "d" 86400) $unit) -}}
{{- end -}}
{{- end -}}

{{/* How long a pod takes to end, in seconds: a sidecar's service first, then the drain. */}}
{{- define "postern.stopSeconds" -}}
{{- $shutdown := .Values.config.shutdown -}}
{{- $drain := add (include "postern.seconds" $shutdown.delay) (include "postern.seconds" $shutdown.timeout) -}}
{{- if eq .Values.mode "sidecar" -}}
{{- $drain = add $drain .Values.sidecar.preStopSleepSeconds .Values.sidecar.stopSeconds -}}
{{- end -}}
{{- $drain -}}
{{- end -}}

{{- define "postern.gracePeriodSeconds" -}}
{{- .Values.terminationGracePeriodSeconds | default (add (include "postern.stopSeconds" .) 5) | int -}}
{{- end -}}
